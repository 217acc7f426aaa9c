! The Fortran module: gravity, a job with a kernel from a string, arrays with strides,
! and errors. Stops with 1 if any check fails.
program fortran_interface
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  character(len=1), parameter :: nl = new_line("a")
  character(len=*), parameter :: spring = ".kernel spring"//nl//".flops 3"//nl// &
       "ivar long xi f64to72"//nl//"jvar long xj f64to72"//nl//"jvar long mj f64to72"//nl// &
       "jvar long idj i64int as id default -2"//nl//"param long k f64to72"//nl// &
       "fvar long force f64to72 fadd at $lr24v"//nl//"fvar long ids i64int iadd at $lr32v"//nl// &
       ".start"//nl//"upass force 0"//nl//"upass ids 0"//nl//".body"//nl//"vlen 1"//nl// &
       "bget $lr0 xj"//nl//"bget $lr2 mj"//nl//"bget $lr4 k"//nl//"bget $lr6 idj"//nl// &
       "vlen 4"//nl// &
       "fsub $lr8v $lr0 xi"//nl//"dmul $lr8v $lr8v $lr2"//nl//"dmul $lr8v $lr8v $lr4"//nl// &
       "fadd force force $lr8v"//nl//"iadd ids ids $lr6"//nl

  integer, parameter :: n = 30
  type, bind(c) :: particle
     real(c_double) :: x
     real(c_float) :: m
     real(c_double) :: force
     integer(c_int64_t) :: id, ids
  end type particle

  type(particle), target :: p(n)
  type(gdr_device) :: device
  type(gdr_gravity) :: gravity
  type(gdr_statistics) :: statistics
  type(gdr_board_statistics) :: boards
  type(gdr_rank_report), allocatable :: reports(:)
  real(c_double) :: x(3, 2), m(2), acc(3, 2), pot(2)
  integer :: status

  call gdr_device_open("emulater", device, status)
  call check(status == gdr_error_usage, "an unknown device")
  call check(index(gdr_last_error(), "emulator") > 0, "its message")
  call gdr_device_open("exact:threads=1,chips=2,blocks=2,pes=3", device, status)
  call check(status == gdr_ok, "open")
  call check(len(gdr_version()) > 0, "version")

  call gdr_gravity_create(device, gravity, status)
  call check(status == gdr_ok, "gravity")
  x = reshape([0d0, 0d0, 0d0, 0d0, 2d0, 0d0], [3, 2])
  m = [1d0, 4d0]
  call gdr_gravity_compute(gravity, 2, x, m, 0d0, acc, pot, status)
  call check(status == gdr_ok, "compute")
  call check(all(abs(acc - reshape([0d0, 1d0, 0d0, 0d0, -0.25d0, 0d0], [3, 2])) < 1d-6), "acc")
  call check(all(abs(pot - [-2d0, -0.5d0]) < 1d-6), "pot")
  call gdr_gravity_compute_on(gravity, 1, x, 2, x, m, 0d0, acc, pot, status)
  call check(status == gdr_ok .and. abs(acc(2, 1) - 1d0) < 1d-6, "compute_on")
  call gdr_gravity_compute(gravity, 2, x, m, -1d0, acc, pot, status)
  call check(status == gdr_error_input, "a negative softening")
  call gdr_gravity_free(gravity)

  call gdr_device_reset_statistics(device, status)
  call test_job()
  call gdr_device_statistics(device, statistics, status)
  call check(status == gdr_ok .and. statistics%runs == 4, "runs")
  call check(statistics%interactions == 4 * n * n, "interactions")
  call gdr_device_board_statistics(device, boards, status)
  call check(status == gdr_ok .and. boards%board_seconds > 0, "board_seconds")
  call check(boards%failed_boards == 0 .and. boards%checks == 0, "failed_boards")
  call test_compile()
  call test_vectors()
  call gdr_device_rank_reports(device, reports, status)
  call check(status == gdr_ok .and. size(reports) == 0, "no ranks")
  deallocate(reports)
  call gdr_device_close(device)
  call test_matrices()
  if (failures > 0) stop 1

contains

  ! Products need all PEs of the chip. Small integers, so that all sums are exact.
  subroutine test_matrices()
    integer, parameter :: rows = 6, columns = 5, inner = 40
    type(gdr_device) :: whole
    type(gdr_matrix_product) :: product
    type(gdr_statistics) :: counts
    real(c_double) :: a(inner, rows), b(inner, columns), c(rows + 1, columns)
    real(c_float) :: c4(rows + 1, columns)
    integer(c_int64_t) :: bytes(2)
    integer :: i, j
    a = reshape([(dble(mod(i, 7) - 3), i = 1, size(a))], shape(a))
    b = reshape([(dble(mod(i, 11) - 5), i = 1, size(b))], shape(b))
    call gdr_device_open("exact:chips=1,blocks=1", whole, status)
    call gdr_matrix_product_create(whole, gdr_matrix_full, product, status)
    call check(status == gdr_ok, "product")
    c4 = 1
    call gdr_matrix_product_sgemm(product, "t", "N", rows, columns, inner, 2.0, real(a), inner, &
         real(b), inner, 3.0, c4, rows + 1, status)
    call check(status == gdr_ok, "sgemm")
    call check(all(c4(:rows, :) == 2 * matmul(transpose(a), b) + 3), "elements of sgemm")
    call check(all(c4(rows + 1, :) == 1), "rows below those of sgemm")
    do j = 0, 2  ! the first one sends the program, too
       c = 1
       if (j == 2) call gdr_matrix_product_reuse_b(product, status)
       call gdr_device_reset_statistics(whole, status)
       call gdr_matrix_product_dgemm(product, "C", "n", rows, columns, inner, -1d0, a, inner, &
            b, inner, 0d0, c, rows + 1, status)
       call check(status == gdr_ok, "dgemm")
       call check(all(c(:rows, :) == -matmul(transpose(a), b)), "elements of dgemm")
       call gdr_device_statistics(whole, counts, status)
       if (j > 0) bytes(j) = counts%bytes_to_board
    end do
    call check(bytes(1) - bytes(2) == 8 * 64 * (columns + 1), "B stays")
    call gdr_matrix_product_dgemm(product, "x", "n", rows, columns, inner, 1d0, a, inner, &
         b, inner, 0d0, c, rows, status)
    call check(status == gdr_error_usage, "an unknown transpose")
    call gdr_matrix_product_dgemm(product, "t", "n", rows, columns, -1, 1d0, a, inner, &
         b, inner, 0d0, c, rows, status)
    call check(status == gdr_error_usage, "a negative size")
    call gdr_matrix_product_free(product)
    call gdr_device_close(whole)
  end subroutine test_matrices

  ! The same law in the kernel language, and an invalid source.
  subroutine test_compile()
    type(gdr_kernel) :: kernel
    type(gdr_job) :: job
    type(gdr_variable) :: variable
    real(c_double) :: x(3) = [0d0, 1d0, 3d0], force(3), clocks, flops
    call gdr_kernel_compile("CONST k; VARI xi; VARJ xj; VARF f;"//new_line("a")// &
         "f += k*(xj - xi);", "spring", kernel, status)
    call check(status == gdr_ok, "compile")
    call check(gdr_kernel_name(kernel) == "spring", "the name of a kernel")
    call check(gdr_kernel_variable_count(kernel) == 4, "the number of variables")
    call gdr_kernel_variable(kernel, 4, variable, status)
    call check(status == gdr_ok .and. gdr_text(variable%name) == "f", "variables count from 1")
    call check(variable%role == gdr_result .and. variable%type == gdr_f64, "a variable's role")
    call gdr_kernel_cost(kernel, clocks, flops, status)
    call check(status == gdr_ok .and. clocks > 0 .and. flops > 0, "the cost of a kernel")
    call check(gdr_kernel_array_count(kernel) == 0, "a kernel without arrays")
    call gdr_job_create(device, kernel, job, status)
    call gdr_kernel_free(kernel)
    call gdr_job_set(job, "k", 2d0, status)
    call gdr_job_sources(job, 3, [gdr_array("xj", x)], status)
    call gdr_job_targets(job, 3, [gdr_array("xi", x)], status)
    call gdr_job_run(job, [gdr_array("f", force)], status)
    call check(status == gdr_ok, "run of a compiled kernel")
    call check(all(force == [8d0, 2d0, -10d0]), "forces of a compiled kernel")
    call gdr_job_free(job)
    call gdr_kernel_compile("VARI x; VARF f; f += y;", "wrong", kernel, status)
    call check(status == gdr_error_program, "a kernel that does not compile")
    call check(index(gdr_last_error(), "GDR7002") > 0, "its diagnostic")
  end subroutine test_compile

  ! A vector is an array (3, n).
  subroutine test_vectors()
    type(gdr_kernel) :: kernel
    type(gdr_job) :: job
    type(gdr_variable_array) :: vector
    type(gdr_variable) :: element
    integer(c_size_t), pointer :: sizes(:)
    real(c_double) :: x(3, 2), xs(3, 1), f(3, 2)
    x = reshape([0d0, 1d0, 2d0, 3d0, 4d0, 5d0], [3, 2])
    xs(:, 1) = [1d0, 1d0, 1d0]
    call gdr_kernel_compile("CONST vec3 b; VARI vec3 x; VARJ vec3 xs; VARF vec3 f;"// &
         new_line("a")//"f += dot(b, xs - x)*b;", "along", kernel, status)
    call check(status == gdr_ok, "compile a kernel of vectors")
    call check(gdr_kernel_array_count(kernel) == 4, "the number of vectors")
    call gdr_kernel_array(kernel, 2, vector, status)
    call check(status == gdr_ok .and. gdr_text(vector%name) == "x", "arrays count from 1")
    call c_f_pointer(vector%sizes, sizes, [vector%rank])
    call check(vector%count == 3 .and. all(sizes == [3]), "the size of a vector")
    call gdr_kernel_variable(kernel, int(vector%first) + 1, element, status)
    call check(status == gdr_ok .and. gdr_text(element%name) == "x_0", "the first component")
    call gdr_kernel_array(kernel, 5, vector, status)
    call check(status == gdr_error_usage, "an array that is not there")
    call gdr_job_create(device, kernel, job, status)
    call gdr_kernel_free(kernel)
    call gdr_job_set_values(job, "b", 3, [1d0, 0d0, 2d0], status)
    call check(status == gdr_ok, "set a vector")
    call gdr_job_set_values(job, "b", 2, [1d0, 0d0], status)
    call check(status == gdr_error_usage, "a vector of two")
    call gdr_job_sources(job, 1, [gdr_array("xs", xs)], status)
    call gdr_job_targets(job, 2, [gdr_array("x", x)], status)
    call gdr_job_run(job, [gdr_array("f", f)], status)
    call check(status == gdr_ok, "run of a kernel of vectors")
    call check(all(f(:, 1) == [-1d0, 0d0, -2d0]), "the first result")
    call check(all(f(:, 2) == [-10d0, 0d0, -20d0]), "the second result")
    call gdr_job_free(job)
  end subroutine test_vectors

  subroutine test_job()
    type(gdr_kernel) :: kernel
    type(gdr_job) :: job
    real(c_double), target :: force(n), masses(2)
    integer :: i, step
    do i = 1, n
       p(i) = particle(mod(i * i, 17) / 4d0, mod(i, 5) / 8.0, 0d0, int(i, c_int64_t), 0_c_int64_t)
    end do
    step = int(storage_size(p) / 8)
    call gdr_kernel_assemble(spring, "spring", kernel, status)
    call check(status == gdr_ok, "assemble")
    call gdr_job_create(device, kernel, job, status)
    call check(status == gdr_ok, "job")
    call gdr_kernel_free(kernel)
    call gdr_job_set(job, "k", 0.5d0, status)
    call check(status == gdr_ok, "set")
    call gdr_job_sources(job, n, [gdr_array("xj", p(1)%x, step), gdr_array("mj", p(1)%m, step), &
         gdr_array("idj", p(1)%id, step)], status)
    call check(status == gdr_ok, "sources")
    call gdr_job_targets(job, n, [gdr_array("xi", p(1)%x, step)], status)
    call check(status == gdr_ok, "targets")
    call gdr_job_run(job, [gdr_array("force", p(1)%force, step), &
         gdr_array("ids", p(1)%ids, step)], status)
    call check(status == gdr_ok, "run")
    call check(all(p%force == expected()), "forces")
    call check(all(p%ids == n * (n + 1) / 2), "ids")

    p(7)%m = 2
    call gdr_job_update_sources(job, 7, 1, [gdr_array("mj", p(7)%m, step)], status)
    call check(status == gdr_ok, "update")
    call gdr_job_start(job, [gdr_array("force", force)], status)
    call check(status == gdr_ok, "start")
    call gdr_job_wait(job, status)
    call check(status == gdr_ok .and. gdr_job_ready(job), "wait")
    call check(all(force == expected()), "forces after an update")
    masses = [5, 3]
    p([7, 2])%m = masses
    call gdr_job_update_sources_at(job, 2, [7, 2], [gdr_array("mj", masses)], status)
    call check(status == gdr_ok, "update of given sources")
    call gdr_job_run(job, [gdr_array("force", force)], status)
    call check(all(force == expected()), "forces after an update of given sources")
    call gdr_job_update_sources_at(job, 1, [0], [gdr_array("mj", masses)], status)
    call check(status == gdr_error_usage, "a source before the first")
    call gdr_job_sources(job, n, [gdr_array("xj", p(1)%x, step), gdr_array("mj", p(1)%m, step)], &
         status)
    call check(status == gdr_ok, "sources without ids")
    call gdr_job_run(job, [gdr_array("ids", p(1)%ids, step)], status)
    call check(all(p%ids == -2 * n), "ids that are not given")
    call gdr_job_set(job, "kk", 1d0, status)
    call check(status == gdr_error_usage, "an unknown param")
    call gdr_job_free(job)
  end subroutine test_job

  function expected() result(force)
    real(c_double) :: force(n)
    integer :: i, j
    force = 0
    do i = 1, n
       do j = 1, n
          force(i) = force(i) + 0.5d0 * p(j)%m * (p(j)%x - p(i)%x)
       end do
    end do
  end function expected
end program fortran_interface
