! The Fortran interface of libgdr: a module over the C one (gdr.h), with Fortran strings and arrays.
!
!   use gdr
!   type(gdr_device) :: device
!   type(gdr_gravity) :: gravity
!   integer :: status
!   call gdr_device_open("emulator", device, status)
!   call gdr_gravity_create(device, gravity, status)
!   call gdr_gravity_compute(gravity, n, x, m, eps, acc, pot, status)  ! x(3,n) m(n) acc(3,n) pot(n)
!   if (status /= gdr_ok) print *, gdr_last_error()
!
! `status` is gdr_ok or the kind of the error; gdr_last_error() is its message. Arrays of a job are
! given by gdr_array: a kernel's name for them, and the array. They must be contiguous and have the
! attribute target; a component of an array of derived type is given with its stride in bytes.
module gdr
  use, intrinsic :: iso_c_binding
  implicit none
  private

  integer, parameter, public :: gdr_ok = 0, gdr_error_usage = 1, gdr_error_input = 2, &
       gdr_error_program = 3, gdr_error_io = 4, gdr_error_device = 5, gdr_error_unsupported = 6, &
       gdr_error_internal = 7, gdr_error_memory = 8, &
       gdr_error_ranks_lost = 9
  integer(c_int), parameter :: type_f64 = 0, type_f32 = 1, type_i64 = 2

  ! Handles. They are closed or freed by the caller, once.
  type, public :: gdr_device
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_device
  type, public :: gdr_kernel
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_kernel
  type, public :: gdr_job
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_job
  type, public :: gdr_gravity
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_gravity
  type, public :: gdr_matrix_product
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_matrix_product

  type, public :: gdr_linear_solver
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_linear_solver
  type, public :: gdr_small_matrices
     private
     type(c_ptr) :: handle = c_null_ptr
  end type gdr_small_matrices

  ! What products of matrices see of doubles: 50 bits, as the chip has them, or all.
  integer, parameter, public :: gdr_matrix_chip = 0, gdr_matrix_full = 1

  integer, parameter :: longest_name = 63

  ! A kernel's variable with the array for it.
  type, public :: gdr_named_array
     private
     character(kind=c_char) :: name(longest_name + 1) = c_null_char
     type(c_ptr) :: data = c_null_ptr
     integer(c_int) :: type = type_f64
     integer(c_intptr_t) :: stride = 0
  end type gdr_named_array

  ! As in gdr.h: what the device did since it was opened or the statistics were reset.
  type, bind(c), public :: gdr_statistics
     integer(c_int64_t) :: runs, interactions
     real(c_double) :: flops
     integer(c_int64_t) :: compute_clocks, chip_clocks, bytes_to_board, bytes_from_board
     real(c_double) :: predicted_seconds, host_seconds
     integer(c_int) :: threads
     integer(c_int64_t) :: fast_runs, slow_runs
     real(c_double) :: compile_seconds
  end type gdr_statistics

  ! As in gdr.h: what the host measured, and what became of the boards.
  type, bind(c), public :: gdr_board_statistics
     real(c_double) :: conversion_seconds, transfer_seconds, board_seconds, overlap_seconds
     integer(c_int64_t) :: lost_boards, checks
  end type gdr_board_statistics

  ! gdr_input and gdr_result of gdr.h, which are alike.
  type, bind(c) :: c_array
     type(c_ptr) :: name, data
     integer(c_int) :: type
     integer(c_intptr_t) :: stride
  end type c_array

  ! An array for a variable: gdr_array("xj", x), or, with a stride of 32 bytes,
  ! gdr_array("xj", p(1)%x, 32).
  interface gdr_array
     module procedure array_f64, array_f32, array_i64, scalar_f64, scalar_f32, scalar_i64
  end interface gdr_array

  public :: gdr_array, gdr_version, gdr_last_error
  public :: gdr_device_open, gdr_device_close, gdr_device_statistics, gdr_device_reset_statistics
  public :: gdr_device_board_statistics
  public :: gdr_device_open_mpi, gdr_device_rank, gdr_device_ranks, gdr_device_recover
  public :: gdr_device_despite_losses, gdr_work
  public :: gdr_kernel_compile, gdr_kernel_assemble, gdr_kernel_load, gdr_kernel_builtin
  public :: gdr_kernel_free
  public :: gdr_job_create, gdr_job_free, gdr_job_set, gdr_job_sources, gdr_job_update_sources
  public :: gdr_job_targets, gdr_job_run, gdr_job_start, gdr_job_wait, gdr_job_ready
  public :: gdr_gravity_create, gdr_gravity_free, gdr_gravity_compute, gdr_gravity_compute_on
  public :: gdr_matrix_product_create, gdr_matrix_product_free, gdr_matrix_product_unchanged_b
  public :: gdr_matrix_product_dgemm, gdr_matrix_product_sgemm
  public :: gdr_linear_solver_create, gdr_linear_solver_free, gdr_linear_lu, gdr_linear_solve
  public :: gdr_linear_cholesky, gdr_linear_solve_cholesky, gdr_linear_solve_triangular
  public :: gdr_linear_multiply
  public :: gdr_small_matrices_create, gdr_small_matrices_free, gdr_small_multiply, gdr_small_lu
  public :: gdr_small_solve

  ! What gdr_device_despite_losses does: calls on the device, up to the first that fails, whose status
  ! it returns.
  abstract interface
     subroutine gdr_work(status)
       integer, intent(out) :: status
     end subroutine gdr_work
  end interface
  type :: task
     procedure(gdr_work), pointer, nopass :: work => null()
  end type task

  interface
     function c_version() bind(c, name="gdr_version") result(text)
       import :: c_ptr
       type(c_ptr) :: text
     end function c_version
     function c_last_error() bind(c, name="gdr_last_error") result(text)
       import :: c_ptr
       type(c_ptr) :: text
     end function c_last_error
     function c_strlen(text) bind(c, name="strlen") result(length)
       import :: c_ptr, c_size_t
       type(c_ptr), value :: text
       integer(c_size_t) :: length
     end function c_strlen

     function c_device_open(name, device) bind(c, name="gdr_device_open") result(status)
       import :: c_char, c_ptr, c_int
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr), intent(out) :: device
       integer(c_int) :: status
     end function c_device_open
     function c_device_open_mpi(communicator, name, device) bind(c, name="gdr_device_open_mpi") &
          result(status)
       import :: c_char, c_ptr, c_int
       integer(c_int), value :: communicator
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr), intent(out) :: device
       integer(c_int) :: status
     end function c_device_open_mpi
     function c_device_rank(device) bind(c, name="gdr_device_rank") result(rank)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       integer(c_int) :: rank
     end function c_device_rank
     function c_device_ranks(device) bind(c, name="gdr_device_ranks") result(ranks)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       integer(c_int) :: ranks
     end function c_device_ranks
     function c_device_recover(device, lost, room, count) bind(c, name="gdr_device_recover") &
          result(status)
       import :: c_ptr, c_int, c_size_t
       type(c_ptr), value :: device
       integer(c_int), intent(inout) :: lost(*)
       integer(c_size_t), value :: room
       integer(c_size_t), intent(out) :: count
       integer(c_int) :: status
     end function c_device_recover
     function c_device_despite_losses(device, work, data) &
          bind(c, name="gdr_device_despite_losses") result(status)
       import :: c_ptr, c_funptr, c_int
       type(c_ptr), value :: device, data
       type(c_funptr), value :: work
       integer(c_int) :: status
     end function c_device_despite_losses
     subroutine c_device_close(device) bind(c, name="gdr_device_close")
       import :: c_ptr
       type(c_ptr), value :: device
     end subroutine c_device_close
     function c_device_statistics(device, statistics) bind(c, name="gdr_device_statistics") &
          result(status)
       import :: c_ptr, c_int, gdr_statistics
       type(c_ptr), value :: device
       type(gdr_statistics), intent(out) :: statistics
       integer(c_int) :: status
     end function c_device_statistics
     function c_device_board_statistics(device, statistics, bytes) &
          bind(c, name="gdr_device_board_statistics") result(status)
       import :: c_ptr, c_int, c_size_t, gdr_board_statistics
       type(c_ptr), value :: device
       type(gdr_board_statistics), intent(out) :: statistics
       integer(c_size_t), value :: bytes
       integer(c_int) :: status
     end function c_device_board_statistics
     function c_device_reset(device) bind(c, name="gdr_device_reset_statistics") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       integer(c_int) :: status
     end function c_device_reset

     function c_kernel_compile(text, name, kernel) bind(c, name="gdr_kernel_compile") &
          result(status)
       import :: c_char, c_ptr, c_int
       character(kind=c_char), intent(in) :: text(*), name(*)
       type(c_ptr), intent(out) :: kernel
       integer(c_int) :: status
     end function c_kernel_compile
     function c_kernel_assemble(text, name, kernel) bind(c, name="gdr_kernel_assemble") &
          result(status)
       import :: c_char, c_ptr, c_int
       character(kind=c_char), intent(in) :: text(*), name(*)
       type(c_ptr), intent(out) :: kernel
       integer(c_int) :: status
     end function c_kernel_assemble
     function c_kernel_load(path, kernel) bind(c, name="gdr_kernel_load") result(status)
       import :: c_char, c_ptr, c_int
       character(kind=c_char), intent(in) :: path(*)
       type(c_ptr), intent(out) :: kernel
       integer(c_int) :: status
     end function c_kernel_load
     function c_kernel_builtin(name, kernel) bind(c, name="gdr_kernel_builtin") result(status)
       import :: c_char, c_ptr, c_int
       character(kind=c_char), intent(in) :: name(*)
       type(c_ptr), intent(out) :: kernel
       integer(c_int) :: status
     end function c_kernel_builtin
     subroutine c_kernel_free(kernel) bind(c, name="gdr_kernel_free")
       import :: c_ptr
       type(c_ptr), value :: kernel
     end subroutine c_kernel_free

     function c_job_create(device, kernel, job) bind(c, name="gdr_job_create") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: device, kernel
       type(c_ptr), intent(out) :: job
       integer(c_int) :: status
     end function c_job_create
     subroutine c_job_free(job) bind(c, name="gdr_job_free")
       import :: c_ptr
       type(c_ptr), value :: job
     end subroutine c_job_free
     function c_job_set(job, name, value) bind(c, name="gdr_job_set") result(status)
       import :: c_ptr, c_char, c_double, c_int
       type(c_ptr), value :: job
       character(kind=c_char), intent(in) :: name(*)
       real(c_double), value :: value
       integer(c_int) :: status
     end function c_job_set
     function c_job_sources(job, n, arrays, count) bind(c, name="gdr_job_sources") result(status)
       import :: c_ptr, c_size_t, c_int, c_array
       type(c_ptr), value :: job
       integer(c_size_t), value :: n, count
       type(c_array), intent(in) :: arrays(*)
       integer(c_int) :: status
     end function c_job_sources
     function c_job_update(job, first, n, arrays, count) bind(c, name="gdr_job_update_sources") &
          result(status)
       import :: c_ptr, c_size_t, c_int, c_array
       type(c_ptr), value :: job
       integer(c_size_t), value :: first, n, count
       type(c_array), intent(in) :: arrays(*)
       integer(c_int) :: status
     end function c_job_update
     function c_job_targets(job, n, arrays, count) bind(c, name="gdr_job_targets") result(status)
       import :: c_ptr, c_size_t, c_int, c_array
       type(c_ptr), value :: job
       integer(c_size_t), value :: n, count
       type(c_array), intent(in) :: arrays(*)
       integer(c_int) :: status
     end function c_job_targets
     function c_job_run(job, arrays, count) bind(c, name="gdr_job_run") result(status)
       import :: c_ptr, c_size_t, c_int, c_array
       type(c_ptr), value :: job
       type(c_array), intent(in) :: arrays(*)
       integer(c_size_t), value :: count
       integer(c_int) :: status
     end function c_job_run
     function c_job_start(job, arrays, count) bind(c, name="gdr_job_start") result(status)
       import :: c_ptr, c_size_t, c_int, c_array
       type(c_ptr), value :: job
       type(c_array), intent(in) :: arrays(*)
       integer(c_size_t), value :: count
       integer(c_int) :: status
     end function c_job_start
     function c_job_wait(job) bind(c, name="gdr_job_wait") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: job
       integer(c_int) :: status
     end function c_job_wait
     function c_job_ready(job) bind(c, name="gdr_job_ready") result(ready)
       import :: c_ptr, c_int
       type(c_ptr), value :: job
       integer(c_int) :: ready
     end function c_job_ready

     function c_gravity_create(device, gravity) bind(c, name="gdr_gravity_create") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       type(c_ptr), intent(out) :: gravity
       integer(c_int) :: status
     end function c_gravity_create
     subroutine c_gravity_free(gravity) bind(c, name="gdr_gravity_free")
       import :: c_ptr
       type(c_ptr), value :: gravity
     end subroutine c_gravity_free
     function c_gravity_compute(gravity, n, position, mass, eps, acceleration, potential) &
          bind(c, name="gdr_gravity_compute") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: gravity
       integer(c_size_t), value :: n
       real(c_double), intent(in) :: position(*), mass(*)
       real(c_double), value :: eps
       real(c_double), intent(inout) :: acceleration(*), potential(*)
       integer(c_int) :: status
     end function c_gravity_compute
     function c_gravity_compute_on(gravity, n_targets, target_position, n_sources, position, mass, &
          eps, acceleration, potential) bind(c, name="gdr_gravity_compute_on") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: gravity
       integer(c_size_t), value :: n_targets, n_sources
       real(c_double), intent(in) :: target_position(*), position(*), mass(*)
       real(c_double), value :: eps
       real(c_double), intent(inout) :: acceleration(*), potential(*)
       integer(c_int) :: status
     end function c_gravity_compute_on

     function c_product_create(device, precision, product) &
          bind(c, name="gdr_matrix_product_create") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       integer(c_int), value :: precision
       type(c_ptr), intent(out) :: product
       integer(c_int) :: status
     end function c_product_create
     subroutine c_product_free(product) bind(c, name="gdr_matrix_product_free")
       import :: c_ptr
       type(c_ptr), value :: product
     end subroutine c_product_free
     function c_product_unchanged_b(product) bind(c, name="gdr_matrix_product_unchanged_b") &
          result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: product
       integer(c_int) :: status
     end function c_product_unchanged_b
     function c_dgemm(product, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
          ldc) bind(c, name="gdr_matrix_product_dgemm") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: product
       integer(c_int), value :: transpose_a, transpose_b
       integer(c_size_t), value :: m, n, k, lda, ldb, ldc
       real(c_double), value :: alpha, beta
       real(c_double), intent(in) :: a(*), b(*)
       real(c_double), intent(inout) :: c(*)
       integer(c_int) :: status
     end function c_dgemm
     function c_sgemm(product, transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, &
          ldc) bind(c, name="gdr_matrix_product_sgemm") result(status)
       import :: c_ptr, c_size_t, c_float, c_int
       type(c_ptr), value :: product
       integer(c_int), value :: transpose_a, transpose_b
       integer(c_size_t), value :: m, n, k, lda, ldb, ldc
       real(c_float), value :: alpha, beta
       real(c_float), intent(in) :: a(*), b(*)
       real(c_float), intent(inout) :: c(*)
       integer(c_int) :: status
     end function c_sgemm

     function c_solver_create(device, precision, device_flops, solver) &
          bind(c, name="gdr_linear_solver_create") result(status)
       import :: c_ptr, c_int, c_double
       type(c_ptr), value :: device
       integer(c_int), value :: precision
       real(c_double), value :: device_flops
       type(c_ptr), intent(out) :: solver
       integer(c_int) :: status
     end function c_solver_create
     subroutine c_solver_free(solver) bind(c, name="gdr_linear_solver_free")
       import :: c_ptr
       type(c_ptr), value :: solver
     end subroutine c_solver_free
     function c_lu(solver, m, n, a, lda, pivots, zero) bind(c, name="gdr_linear_lu") &
          result(status)
       import :: c_ptr, c_size_t, c_double, c_int, c_int64_t
       type(c_ptr), value :: solver
       integer(c_size_t), value :: m, n, lda
       real(c_double), intent(inout) :: a(*)
       integer(c_int64_t), intent(out) :: pivots(*)
       integer(c_int64_t), intent(inout) :: zero
       integer(c_int) :: status
     end function c_lu
     function c_solve(solver, transpose, n, columns, lu, ldlu, pivots, b, ldb) &
          bind(c, name="gdr_linear_solve") result(status)
       import :: c_ptr, c_size_t, c_double, c_int, c_int64_t
       type(c_ptr), value :: solver
       integer(c_int), value :: transpose
       integer(c_size_t), value :: n, columns, ldlu, ldb
       real(c_double), intent(in) :: lu(*)
       integer(c_int64_t), intent(in) :: pivots(*)
       real(c_double), intent(inout) :: b(*)
       integer(c_int) :: status
     end function c_solve
     function c_cholesky(solver, triangle, n, a, lda, bad) bind(c, name="gdr_linear_cholesky") &
          result(status)
       import :: c_ptr, c_size_t, c_double, c_int, c_int64_t
       type(c_ptr), value :: solver
       integer(c_int), value :: triangle
       integer(c_size_t), value :: n, lda
       real(c_double), intent(inout) :: a(*)
       integer(c_int64_t), intent(inout) :: bad
       integer(c_int) :: status
     end function c_cholesky
     function c_solve_cholesky(solver, triangle, n, columns, factor, ldf, b, ldb) &
          bind(c, name="gdr_linear_solve_cholesky") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: solver
       integer(c_int), value :: triangle
       integer(c_size_t), value :: n, columns, ldf, ldb
       real(c_double), intent(in) :: factor(*)
       real(c_double), intent(inout) :: b(*)
       integer(c_int) :: status
     end function c_solve_cholesky
     function c_solve_triangular(solver, side, triangle, transpose, diagonal, m, n, alpha, a, lda, &
          b, ldb) bind(c, name="gdr_linear_solve_triangular") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: solver
       integer(c_int), value :: side, triangle, transpose, diagonal
       integer(c_size_t), value :: m, n, lda, ldb
       real(c_double), value :: alpha
       real(c_double), intent(in) :: a(*)
       real(c_double), intent(inout) :: b(*)
       integer(c_int) :: status
     end function c_solve_triangular
     function c_multiply(solver, transpose, m, n, alpha, a, lda, x, incx, beta, y, incy) &
          bind(c, name="gdr_linear_multiply") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: solver
       integer(c_int), value :: transpose
       integer(c_size_t), value :: m, n, lda, incx, incy
       real(c_double), value :: alpha, beta
       real(c_double), intent(in) :: a(*), x(*)
       real(c_double), intent(inout) :: y(*)
       integer(c_int) :: status
     end function c_multiply

     function c_small_create(device, small) bind(c, name="gdr_small_matrices_create") result(status)
       import :: c_ptr, c_int
       type(c_ptr), value :: device
       type(c_ptr), intent(out) :: small
       integer(c_int) :: status
     end function c_small_create
     subroutine c_small_free(small) bind(c, name="gdr_small_matrices_free")
       import :: c_ptr
       type(c_ptr), value :: small
     end subroutine c_small_free
     function c_small_multiply(small, count, m, n, k, a, lda, step_a, b, ldb, step_b, c, ldc, &
          step_c) bind(c, name="gdr_small_multiply") result(status)
       import :: c_ptr, c_size_t, c_double, c_int
       type(c_ptr), value :: small
       integer(c_size_t), value :: count, m, n, k, lda, step_a, ldb, step_b, ldc, step_c
       real(c_double), intent(in) :: a(*), b(*)
       real(c_double), intent(inout) :: c(*)
       integer(c_int) :: status
     end function c_small_multiply
     function c_small_lu(small, count, n, a, lda, step_a, pivots, singular) &
          bind(c, name="gdr_small_lu") result(status)
       import :: c_ptr, c_size_t, c_double, c_int, c_int64_t
       type(c_ptr), value :: small
       integer(c_size_t), value :: count, n, lda, step_a
       real(c_double), intent(inout) :: a(*)
       integer(c_int64_t), intent(inout) :: pivots(*)
       integer(c_size_t), intent(inout) :: singular
       integer(c_int) :: status
     end function c_small_lu
     function c_small_solve(small, count, n, columns, lu, ldlu, step_lu, pivots, b, ldb, step_b) &
          bind(c, name="gdr_small_solve") result(status)
       import :: c_ptr, c_size_t, c_double, c_int, c_int64_t
       type(c_ptr), value :: small
       integer(c_size_t), value :: count, n, columns, ldlu, step_lu, ldb, step_b
       real(c_double), intent(in) :: lu(*)
       integer(c_int64_t), intent(in) :: pivots(*)
       real(c_double), intent(inout) :: b(*)
       integer(c_int) :: status
     end function c_small_solve
  end interface

contains

  ! A C string as a Fortran one.
  function text_at(pointer) result(text)
    type(c_ptr), intent(in) :: pointer
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer :: k
    call c_f_pointer(pointer, letters, [c_strlen(pointer)])
    allocate (character(len=size(letters)) :: text)
    do k = 1, size(letters)
       text(k:k) = letters(k)
    end do
  end function text_at

  ! Version of the library.
  function gdr_version() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_version())
  end function gdr_version

  ! Message of this thread's last error.
  function gdr_last_error() result(text)
    character(len=:), allocatable :: text
    text = text_at(c_last_error())
  end function gdr_last_error

  ! ---- arrays -----------------------------------------------------------------------------------

  function named(name, data, type, stride) result(array)
    character(len=*), intent(in) :: name
    type(c_ptr), intent(in) :: data
    integer(c_int), intent(in) :: type
    integer, intent(in), optional :: stride
    type(gdr_named_array) :: array
    integer :: k
    do k = 1, min(len_trim(name), longest_name)
       array%name(k) = name(k:k)
    end do
    array%data = data
    array%type = type
    if (present(stride)) array%stride = int(stride, c_intptr_t)
  end function named

  function array_f64(name, values) result(array)
    character(len=*), intent(in) :: name
    real(c_double), intent(in), target, contiguous :: values(:)
    type(gdr_named_array) :: array
    array = named(name, c_loc(values), type_f64)
  end function array_f64

  function array_f32(name, values) result(array)
    character(len=*), intent(in) :: name
    real(c_float), intent(in), target, contiguous :: values(:)
    type(gdr_named_array) :: array
    array = named(name, c_loc(values), type_f32)
  end function array_f32

  function array_i64(name, values) result(array)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in), target, contiguous :: values(:)
    type(gdr_named_array) :: array
    array = named(name, c_loc(values), type_i64)
  end function array_i64

  function scalar_f64(name, first, stride) result(array)
    character(len=*), intent(in) :: name
    real(c_double), intent(in), target :: first
    integer, intent(in) :: stride
    type(gdr_named_array) :: array
    array = named(name, c_loc(first), type_f64, stride)
  end function scalar_f64

  function scalar_f32(name, first, stride) result(array)
    character(len=*), intent(in) :: name
    real(c_float), intent(in), target :: first
    integer, intent(in) :: stride
    type(gdr_named_array) :: array
    array = named(name, c_loc(first), type_f32, stride)
  end function scalar_f32

  function scalar_i64(name, first, stride) result(array)
    character(len=*), intent(in) :: name
    integer(c_int64_t), intent(in), target :: first
    integer, intent(in) :: stride
    type(gdr_named_array) :: array
    array = named(name, c_loc(first), type_i64, stride)
  end function scalar_i64

  function c_arrays(arrays) result(list)
    type(gdr_named_array), intent(in), target :: arrays(:)
    type(c_array) :: list(size(arrays))
    integer :: k
    do k = 1, size(arrays)
       list(k) = c_array(c_loc(arrays(k)%name), arrays(k)%data, arrays(k)%type, arrays(k)%stride)
    end do
  end function c_arrays

  ! ---- devices ----------------------------------------------------------------------------------

  ! Open a device: "emulator", or with options "emulator:boards=2"; "" is what GDR_DEVICE says.
  subroutine gdr_device_open(name, device, status)
    character(len=*), intent(in) :: name
    type(gdr_device), intent(out) :: device
    integer, intent(out) :: status
    status = c_device_open(trim(name)//c_null_char, device%handle)
  end subroutine gdr_device_open

  ! Open a device on all ranks of a communicator: that of mpif.h or of the module mpi, or
  ! comm%MPI_VAL of mpi_f08. All calls on it are collective (docs/guides/mpi.md).
  subroutine gdr_device_open_mpi(communicator, name, device, status)
    integer, intent(in) :: communicator
    character(len=*), intent(in) :: name
    type(gdr_device), intent(out) :: device
    integer, intent(out) :: status
    status = c_device_open_mpi(int(communicator, c_int), trim(name)//c_null_char, device%handle)
  end subroutine gdr_device_open_mpi

  ! This process among those that share the device, from 0, and how many they are.
  function gdr_device_rank(device) result(rank)
    type(gdr_device), intent(in) :: device
    integer :: rank
    rank = c_device_rank(device%handle)
  end function gdr_device_rank

  function gdr_device_ranks(device) result(ranks)
    type(gdr_device), intent(in) :: device
    integer :: ranks
    ranks = c_device_ranks(device%handle)
  end function gdr_device_ranks

  ! After gdr_error_ranks_lost: makes this a device of the ranks that are left. `lost` gets the
  ! numbers that the lost ones had when it was opened.
  subroutine gdr_device_recover(device, lost, status)
    type(gdr_device), intent(in) :: device
    integer, allocatable, intent(out) :: lost(:)
    integer, intent(out) :: status
    integer(c_int), allocatable :: numbers(:)
    integer(c_size_t) :: count
    allocate (numbers(max(1, gdr_device_ranks(device))))
    status = c_device_recover(device%handle, numbers, size(numbers, kind=c_size_t), count)
    lost = numbers(1:count)
  end subroutine gdr_device_recover

  ! Do `work`, and again, as a device of those that are left, as often as ranks are lost meanwhile.
  subroutine gdr_device_despite_losses(device, work, status)
    type(gdr_device), intent(in) :: device
    procedure(gdr_work) :: work
    integer, intent(out) :: status
    type(task), target :: now
    now%work => work
    status = c_device_despite_losses(device%handle, c_funloc(do_task), c_loc(now))
  end subroutine gdr_device_despite_losses

  function do_task(data) bind(c) result(status)
    type(c_ptr), value :: data
    integer(c_int) :: status
    type(task), pointer :: now
    integer :: own
    call c_f_pointer(data, now)
    call now%work(own)
    status = own
  end function do_task

  subroutine gdr_device_close(device)
    type(gdr_device), intent(inout) :: device
    call c_device_close(device%handle)
    device%handle = c_null_ptr
  end subroutine gdr_device_close

  subroutine gdr_device_statistics(device, statistics, status)
    type(gdr_device), intent(in) :: device
    type(gdr_statistics), intent(out) :: statistics
    integer, intent(out) :: status
    status = c_device_statistics(device%handle, statistics)
  end subroutine gdr_device_statistics

  subroutine gdr_device_board_statistics(device, statistics, status)
    type(gdr_device), intent(in) :: device
    type(gdr_board_statistics), intent(out) :: statistics
    integer, intent(out) :: status
    status = c_device_board_statistics(device%handle, statistics, c_sizeof(statistics))
  end subroutine gdr_device_board_statistics

  subroutine gdr_device_reset_statistics(device, status)
    type(gdr_device), intent(in) :: device
    integer, intent(out) :: status
    status = c_device_reset(device%handle)
  end subroutine gdr_device_reset_statistics

  ! ---- kernels ----------------------------------------------------------------------------------

  ! Compile a text of the kernel language; lines may end with new_line("a").
  subroutine gdr_kernel_compile(text, name, kernel, status)
    character(len=*), intent(in) :: text, name
    type(gdr_kernel), intent(out) :: kernel
    integer, intent(out) :: status
    status = c_kernel_compile(text//c_null_char, trim(name)//c_null_char, kernel%handle)
  end subroutine gdr_kernel_compile

  ! Assemble a text; lines end with new_line("a").
  subroutine gdr_kernel_assemble(text, name, kernel, status)
    character(len=*), intent(in) :: text, name
    type(gdr_kernel), intent(out) :: kernel
    integer, intent(out) :: status
    status = c_kernel_assemble(text//c_null_char, trim(name)//c_null_char, kernel%handle)
  end subroutine gdr_kernel_assemble

  ! Read an object file (.gdo), compile a kernel (.gdk), or assemble a source file.
  subroutine gdr_kernel_load(path, kernel, status)
    character(len=*), intent(in) :: path
    type(gdr_kernel), intent(out) :: kernel
    integer, intent(out) :: status
    status = c_kernel_load(trim(path)//c_null_char, kernel%handle)
  end subroutine gdr_kernel_load

  ! A kernel of the library by name.
  subroutine gdr_kernel_builtin(name, kernel, status)
    character(len=*), intent(in) :: name
    type(gdr_kernel), intent(out) :: kernel
    integer, intent(out) :: status
    status = c_kernel_builtin(trim(name)//c_null_char, kernel%handle)
  end subroutine gdr_kernel_builtin

  subroutine gdr_kernel_free(kernel)
    type(gdr_kernel), intent(inout) :: kernel
    call c_kernel_free(kernel%handle)
    kernel%handle = c_null_ptr
  end subroutine gdr_kernel_free

  ! ---- jobs -------------------------------------------------------------------------------------

  subroutine gdr_job_create(device, kernel, job, status)
    type(gdr_device), intent(in) :: device
    type(gdr_kernel), intent(in) :: kernel
    type(gdr_job), intent(out) :: job
    integer, intent(out) :: status
    status = c_job_create(device%handle, kernel%handle, job%handle)
  end subroutine gdr_job_create

  subroutine gdr_job_free(job)
    type(gdr_job), intent(inout) :: job
    call c_job_free(job%handle)
    job%handle = c_null_ptr
  end subroutine gdr_job_free

  subroutine gdr_job_set(job, name, value, status)
    type(gdr_job), intent(in) :: job
    character(len=*), intent(in) :: name
    real(c_double), intent(in) :: value
    integer, intent(out) :: status
    status = c_job_set(job%handle, trim(name)//c_null_char, value)
  end subroutine gdr_job_set

  subroutine gdr_job_sources(job, n, arrays, status)
    type(gdr_job), intent(in) :: job
    integer, intent(in) :: n
    type(gdr_named_array), intent(in), target :: arrays(:)
    integer, intent(out) :: status
    status = c_job_sources(job%handle, int(n, c_size_t), c_arrays(arrays), &
         size(arrays, kind=c_size_t))
  end subroutine gdr_job_sources

  ! Replace n sources from number `first` (the first source is 1) on.
  subroutine gdr_job_update_sources(job, first, n, arrays, status)
    type(gdr_job), intent(in) :: job
    integer, intent(in) :: first, n
    type(gdr_named_array), intent(in), target :: arrays(:)
    integer, intent(out) :: status
    status = c_job_update(job%handle, int(first - 1, c_size_t), int(n, c_size_t), &
         c_arrays(arrays), size(arrays, kind=c_size_t))
  end subroutine gdr_job_update_sources

  subroutine gdr_job_targets(job, n, arrays, status)
    type(gdr_job), intent(in) :: job
    integer, intent(in) :: n
    type(gdr_named_array), intent(in), target :: arrays(:)
    integer, intent(out) :: status
    status = c_job_targets(job%handle, int(n, c_size_t), c_arrays(arrays), &
         size(arrays, kind=c_size_t))
  end subroutine gdr_job_targets

  ! Compute, and fill the arrays of results.
  subroutine gdr_job_run(job, results, status)
    type(gdr_job), intent(in) :: job
    type(gdr_named_array), intent(in), target :: results(:)
    integer, intent(out) :: status
    status = c_job_run(job%handle, c_arrays(results), size(results, kind=c_size_t))
  end subroutine gdr_job_run

  ! The same in the background; the result arrays need the attribute asynchronous or target.
  subroutine gdr_job_start(job, results, status)
    type(gdr_job), intent(in) :: job
    type(gdr_named_array), intent(in), target :: results(:)
    integer, intent(out) :: status
    status = c_job_start(job%handle, c_arrays(results), size(results, kind=c_size_t))
  end subroutine gdr_job_start

  subroutine gdr_job_wait(job, status)
    type(gdr_job), intent(in) :: job
    integer, intent(out) :: status
    status = c_job_wait(job%handle)
  end subroutine gdr_job_wait

  function gdr_job_ready(job) result(ready)
    type(gdr_job), intent(in) :: job
    logical :: ready
    ready = c_job_ready(job%handle) /= 0
  end function gdr_job_ready

  ! ---- gravity ----------------------------------------------------------------------------------

  subroutine gdr_gravity_create(device, gravity, status)
    type(gdr_device), intent(in) :: device
    type(gdr_gravity), intent(out) :: gravity
    integer, intent(out) :: status
    status = c_gravity_create(device%handle, gravity%handle)
  end subroutine gdr_gravity_create

  subroutine gdr_gravity_free(gravity)
    type(gdr_gravity), intent(inout) :: gravity
    call c_gravity_free(gravity%handle)
    gravity%handle = c_null_ptr
  end subroutine gdr_gravity_free

  ! Accelerations(3,n) and potentials(n) of n particles on one another.
  subroutine gdr_gravity_compute(gravity, n, position, mass, eps, acceleration, potential, status)
    type(gdr_gravity), intent(in) :: gravity
    integer, intent(in) :: n
    real(c_double), intent(in) :: position(3, n), mass(n), eps
    real(c_double), intent(inout) :: acceleration(3, n), potential(n)
    integer, intent(out) :: status
    status = c_gravity_compute(gravity%handle, int(n, c_size_t), position, mass, eps, &
         acceleration, potential)
  end subroutine gdr_gravity_compute

  ! The same of n_sources particles on n_targets other places.
  subroutine gdr_gravity_compute_on(gravity, n_targets, target_position, n_sources, position, &
       mass, eps, acceleration, potential, status)
    type(gdr_gravity), intent(in) :: gravity
    integer, intent(in) :: n_targets, n_sources
    real(c_double), intent(in) :: target_position(3, n_targets), position(3, n_sources)
    real(c_double), intent(in) :: mass(n_sources), eps
    real(c_double), intent(inout) :: acceleration(3, n_targets), potential(n_targets)
    integer, intent(out) :: status
    status = c_gravity_compute_on(gravity%handle, int(n_targets, c_size_t), target_position, &
         int(n_sources, c_size_t), position, mass, eps, acceleration, potential)
  end subroutine gdr_gravity_compute_on

  ! ---- matrices ---------------------------------------------------------------------------------

  ! Products of matrices on a device; precision is gdr_matrix_chip or gdr_matrix_full.
  subroutine gdr_matrix_product_create(device, precision, product, status)
    type(gdr_device), intent(in) :: device
    integer, intent(in) :: precision
    type(gdr_matrix_product), intent(out) :: product
    integer, intent(out) :: status
    status = c_product_create(device%handle, int(precision, c_int), product%handle)
  end subroutine gdr_matrix_product_create

  subroutine gdr_matrix_product_free(product)
    type(gdr_matrix_product), intent(inout) :: product
    call c_product_free(product%handle)
    product%handle = c_null_ptr
  end subroutine gdr_matrix_product_free

  ! B of the next call (that one only) is B of the last one: what the boards hold is not sent again.
  subroutine gdr_matrix_product_unchanged_b(product, status)
    type(gdr_matrix_product), intent(in) :: product
    integer, intent(out) :: status
    status = c_product_unchanged_b(product%handle)
  end subroutine gdr_matrix_product_unchanged_b

  ! The place of a letter, of either case, among those that BLAS knows: "NT" as 0 and 1. Anything
  ! else becomes a number that is refused.
  function letter_code(letter, letters) result(code)
    character, intent(in) :: letter
    character(len=2), intent(in) :: letters
    integer(c_int) :: code
    character :: capital
    capital = letter
    if (letter >= "a" .and. letter <= "z") capital = achar(iachar(letter) - 32)
    code = int(index(letters, capital), c_int) - 1
    if (code < 0) code = -iachar(letter)
  end function letter_code

  ! "N" and "T" (or "C") as in BLAS.
  function transpose_code(letter) result(code)
    character, intent(in) :: letter
    integer(c_int) :: code
    code = letter_code(letter, "NT")
    if (letter == "C" .or. letter == "c") code = 1
  end function transpose_code

  ! Negative numbers become sizes beyond any memory, which are refused.
  function size_code(n) result(code)
    integer, intent(in) :: n
    integer(c_size_t) :: code
    code = int(n, c_size_t)
  end function size_code

  ! C = alpha op(A) op(B) + beta C, arguments as in DGEMM of BLAS.
  subroutine gdr_matrix_product_dgemm(product, transa, transb, m, n, k, alpha, a, lda, b, ldb, &
       beta, c, ldc, status)
    type(gdr_matrix_product), intent(in) :: product
    character, intent(in) :: transa, transb
    integer, intent(in) :: m, n, k, lda, ldb, ldc
    real(c_double), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
    real(c_double), intent(inout) :: c(ldc, *)
    integer, intent(out) :: status
    status = c_dgemm(product%handle, transpose_code(transa), transpose_code(transb), &
         size_code(m), size_code(n), size_code(k), alpha, a, size_code(lda), b, size_code(ldb), &
         beta, c, size_code(ldc))
  end subroutine gdr_matrix_product_dgemm

  ! The same in single precision.
  subroutine gdr_matrix_product_sgemm(product, transa, transb, m, n, k, alpha, a, lda, b, ldb, &
       beta, c, ldc, status)
    type(gdr_matrix_product), intent(in) :: product
    character, intent(in) :: transa, transb
    integer, intent(in) :: m, n, k, lda, ldb, ldc
    real(c_float), intent(in) :: alpha, beta, a(lda, *), b(ldb, *)
    real(c_float), intent(inout) :: c(ldc, *)
    integer, intent(out) :: status
    status = c_sgemm(product%handle, transpose_code(transa), transpose_code(transb), &
         size_code(m), size_code(n), size_code(k), alpha, a, size_code(lda), b, size_code(ldb), &
         beta, c, size_code(ldc))
  end subroutine gdr_matrix_product_sgemm

  ! ---- systems of linear equations --------------------------------------------------------------

  ! LU and Cholesky on a device. Products of fewer than device_flops operations stay on the host; a
  ! negative number means the library's choice.
  subroutine gdr_linear_solver_create(device, precision, device_flops, solver, status)
    type(gdr_device), intent(in) :: device
    integer, intent(in) :: precision
    real(c_double), intent(in) :: device_flops
    type(gdr_linear_solver), intent(out) :: solver
    integer, intent(out) :: status
    status = c_solver_create(device%handle, int(precision, c_int), device_flops, solver%handle)
  end subroutine gdr_linear_solver_create

  subroutine gdr_linear_solver_free(solver)
    type(gdr_linear_solver), intent(inout) :: solver
    call c_solver_free(solver%handle)
    solver%handle = c_null_ptr
  end subroutine gdr_linear_solver_free

  ! P A = L U, as DGETRF of LAPACK: pivots and info count from 1, info = 0 if no pivot is zero.
  subroutine gdr_linear_lu(solver, m, n, a, lda, pivots, info, status)
    type(gdr_linear_solver), intent(in) :: solver
    integer, intent(in) :: m, n, lda
    real(c_double), intent(inout) :: a(lda, *)
    integer(c_int64_t), intent(inout) :: pivots(*)
    integer, intent(out) :: info, status
    integer(c_int64_t) :: zero
    integer :: i
    zero = -1
    status = c_lu(solver%handle, size_code(m), size_code(n), a, size_code(lda), pivots, zero)
    info = int(zero) + 1
    if (status /= 0) return
    do i = 1, min(m, n)
       pivots(i) = pivots(i) + 1
    end do
  end subroutine gdr_linear_lu

  ! op(A) X = B from the factors ("N" or "T"), as DGETRS; B becomes X.
  subroutine gdr_linear_solve(solver, trans, n, nrhs, lu, ldlu, pivots, b, ldb, status)
    type(gdr_linear_solver), intent(in) :: solver
    character, intent(in) :: trans
    integer, intent(in) :: n, nrhs, ldlu, ldb
    real(c_double), intent(in) :: lu(ldlu, *)
    integer(c_int64_t), intent(in) :: pivots(*)
    real(c_double), intent(inout) :: b(ldb, *)
    integer, intent(out) :: status
    integer(c_int64_t) :: from_zero(max(n, 1))
    from_zero(1:max(n, 0)) = pivots(1:max(n, 0)) - 1
    status = c_solve(solver%handle, transpose_code(trans), size_code(n), size_code(nrhs), lu, &
         size_code(ldlu), from_zero, b, size_code(ldb))
  end subroutine gdr_linear_solve

  ! A = L L^T or U^T U, as DPOTRF; info is the first pivot that is not positive, from 1, or 0.
  subroutine gdr_linear_cholesky(solver, uplo, n, a, lda, info, status)
    type(gdr_linear_solver), intent(in) :: solver
    character, intent(in) :: uplo
    integer, intent(in) :: n, lda
    real(c_double), intent(inout) :: a(lda, *)
    integer, intent(out) :: info, status
    integer(c_int64_t) :: bad
    bad = -1
    status = c_cholesky(solver%handle, letter_code(uplo, "LU"), size_code(n), a, size_code(lda), bad)
    info = int(bad) + 1
  end subroutine gdr_linear_cholesky

  ! A X = B from the Cholesky factor, as DPOTRS; B becomes X.
  subroutine gdr_linear_solve_cholesky(solver, uplo, n, nrhs, factor, ldf, b, ldb, status)
    type(gdr_linear_solver), intent(in) :: solver
    character, intent(in) :: uplo
    integer, intent(in) :: n, nrhs, ldf, ldb
    real(c_double), intent(in) :: factor(ldf, *)
    real(c_double), intent(inout) :: b(ldb, *)
    integer, intent(out) :: status
    status = c_solve_cholesky(solver%handle, letter_code(uplo, "LU"), size_code(n), size_code(nrhs), &
         factor, size_code(ldf), b, size_code(ldb))
  end subroutine gdr_linear_solve_cholesky

  ! op(A) X = alpha B or X op(A) = alpha B for triangular A, arguments as in DTRSM; B becomes X.
  subroutine gdr_linear_solve_triangular(solver, side, uplo, transa, diag, m, n, alpha, a, lda, b, &
       ldb, status)
    type(gdr_linear_solver), intent(in) :: solver
    character, intent(in) :: side, uplo, transa, diag
    integer, intent(in) :: m, n, lda, ldb
    real(c_double), intent(in) :: alpha, a(lda, *)
    real(c_double), intent(inout) :: b(ldb, *)
    integer, intent(out) :: status
    status = c_solve_triangular(solver%handle, letter_code(side, "LR"), letter_code(uplo, "LU"), &
         transpose_code(transa), letter_code(diag, "NU"), size_code(m), size_code(n), alpha, a, &
         size_code(lda), b, size_code(ldb))
  end subroutine gdr_linear_solve_triangular

  ! y = alpha op(A) x + beta y, A being m x n as it is stored: arguments as in DGEMV, increments
  ! from 1 on.
  subroutine gdr_linear_multiply(solver, trans, m, n, alpha, a, lda, x, incx, beta, y, incy, status)
    type(gdr_linear_solver), intent(in) :: solver
    character, intent(in) :: trans
    integer, intent(in) :: m, n, lda, incx, incy
    real(c_double), intent(in) :: alpha, beta, a(lda, *), x(*)
    real(c_double), intent(inout) :: y(*)
    integer, intent(out) :: status
    integer(c_int) :: code
    code = transpose_code(trans)
    ! The C interface takes the shape of op(A).
    if (code == 1) then
       status = c_multiply(solver%handle, code, size_code(n), size_code(m), alpha, a, &
            size_code(lda), x, size_code(incx), beta, y, size_code(incy))
    else
       status = c_multiply(solver%handle, code, size_code(m), size_code(n), alpha, a, &
            size_code(lda), x, size_code(incx), beta, y, size_code(incy))
    end if
  end subroutine gdr_linear_multiply

  ! ---- many small matrices ----------------------------------------------------------------------

  ! Batches of small matrices, each in an element of a PE: a(:, :, i) is matrix i. See gdr/batch.hpp
  ! for what fits. The device must stay open as long as this is used.
  subroutine gdr_small_matrices_create(device, small, status)
    type(gdr_device), intent(in) :: device
    type(gdr_small_matrices), intent(out) :: small
    integer, intent(out) :: status
    status = c_small_create(device%handle, small%handle)
  end subroutine gdr_small_matrices_create

  subroutine gdr_small_matrices_free(small)
    type(gdr_small_matrices), intent(inout) :: small
    call c_small_free(small%handle)
    small%handle = c_null_ptr
  end subroutine gdr_small_matrices_free

  ! C = A B of each: a(m, k, count), b(k, n, count), c(m, n, count).
  subroutine gdr_small_multiply(small, a, b, c, status)
    type(gdr_small_matrices), intent(in) :: small
    real(c_double), contiguous, intent(in) :: a(:, :, :), b(:, :, :)
    real(c_double), contiguous, intent(inout) :: c(:, :, :)
    integer, intent(out) :: status
    integer(c_size_t) :: m, n, k, count
    m = size(a, 1)
    k = size(a, 2)
    n = size(b, 2)
    count = size(a, 3)
    if (any(shape(b) /= [size(a, 2), size(b, 2), size(a, 3)]) .or. &
         any(shape(c) /= [size(a, 1), size(b, 2), size(a, 3)])) then
       status = gdr_error_usage
       return
    end if
    status = c_small_multiply(small%handle, count, m, n, k, a, max(m, 1_c_size_t), m * k, b, &
         max(k, 1_c_size_t), k * n, c, max(m, 1_c_size_t), m * n)
  end subroutine gdr_small_multiply

  ! P A = L U of each: a(n, n, count), pivots(n, count). Pivots count from 1; `singular` is how many
  ! matrices have a pivot that is exactly zero.
  subroutine gdr_small_lu(small, a, pivots, singular, status)
    type(gdr_small_matrices), intent(in) :: small
    real(c_double), contiguous, intent(inout) :: a(:, :, :)
    integer(c_int64_t), contiguous, intent(inout) :: pivots(:, :)
    integer, intent(out) :: singular, status
    integer(c_size_t) :: n, count, zero
    singular = 0
    n = size(a, 1)
    count = size(a, 3)
    if (size(a, 2) /= size(a, 1) .or. any(shape(pivots) /= [size(a, 1), size(a, 3)])) then
       status = gdr_error_usage
       return
    end if
    zero = 0
    status = c_small_lu(small%handle, count, n, a, max(n, 1_c_size_t), n * n, pivots, zero)
    if (status /= gdr_ok) return
    singular = int(zero)
    pivots = pivots + 1
  end subroutine gdr_small_lu

  ! A X = B of each from the factors: lu(n, n, count), pivots(n, count), b(n, columns, count).
  subroutine gdr_small_solve(small, lu, pivots, b, status)
    type(gdr_small_matrices), intent(in) :: small
    real(c_double), contiguous, intent(in) :: lu(:, :, :)
    integer(c_int64_t), contiguous, intent(in) :: pivots(:, :)
    real(c_double), contiguous, intent(inout) :: b(:, :, :)
    integer, intent(out) :: status
    integer(c_size_t) :: n, columns, count
    integer(c_int64_t), allocatable :: from_zero(:, :)
    n = size(lu, 1)
    columns = size(b, 2)
    count = size(lu, 3)
    if (size(lu, 2) /= size(lu, 1) .or. any(shape(pivots) /= [size(lu, 1), size(lu, 3)]) .or. &
         size(b, 1) /= size(lu, 1) .or. size(b, 3) /= size(lu, 3)) then
       status = gdr_error_usage
       return
    end if
    from_zero = pivots - 1
    status = c_small_solve(small%handle, count, n, columns, lu, max(n, 1_c_size_t), n * n, &
         from_zero, b, max(n, 1_c_size_t), n * columns)
  end subroutine gdr_small_solve

end module gdr
