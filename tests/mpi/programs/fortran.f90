! The Fortran interface on the ranks of a communicator: two halves of the processes compute on their
! own, and compare with one process.
program ranks
  use, intrinsic :: iso_c_binding
  use gdr
  implicit none
  include "mpif.h"
  integer, parameter :: n = 60
  type(gdr_device) :: device, alone
  type(gdr_gravity) :: gravity, reference
  real(c_double), parameter :: box(3, 3) = reshape([1.5d0, 0d0, 0d0, 0d0, 1.5d0, 0d0, 0d0, 0d0, &
       1.5d0], [3, 3])
  real(c_double), target :: x(3, n), m(n), a(3, n), right(3, n), pot(n), u(n), right_u(n)
  integer :: status, me, k, first, last, half, level, error

  call mpi_init_thread(MPI_THREAD_MULTIPLE, level, error)
  call mpi_comm_rank(MPI_COMM_WORLD, me, error)
  call mpi_comm_split(MPI_COMM_WORLD, mod(me, 2), me, half, error)
  do k = 1, n
     x(:, k) = [mod(7*k, 31), mod(5*k, 29), mod(3*k, 23)]/31.0d0 + mod(me, 2)
     m(k) = 1.0d0/(k + 2)
  end do
  call gdr_device_open("exact:threads=1", alone, status)
  call gdr_gravity_create(alone, reference, status)
  call gdr_gravity_compute(reference, n, x, m, 0.125d0, right, pot, status)
  if (status /= gdr_ok) error stop "alone"
  call gdr_device_open_mpi(half, "mpi:engine=exact,threads=1", device, status)
  if (status /= gdr_ok) error stop "open"
  call gdr_gravity_create(device, gravity, status)
  first = n*gdr_device_rank(device)/gdr_device_ranks(device) + 1
  last = n*(gdr_device_rank(device) + 1)/gdr_device_ranks(device)
  call gdr_gravity_compute(gravity, last - first + 1, x(:, first:last), m(first:last), 0.125d0, &
       a(:, first:last), pot(first:last), status)
  if (status /= gdr_ok) error stop "forces"
  print "(i0, a, i0, a, l1)", me, ": ", gdr_device_ranks(device), " ranks, the same ", &
       all(a(:, first:last) == right(:, first:last))
  call sums(alone, 1, n, right_u, right)
  call sums(device, first, last, u, a)
  print "(i0, a, l1)", me, ": the same sums ", all(a(:, first:last) == right(:, first:last)) .and. &
       all(u(first:last) == right_u(first:last))
  call gdr_gravity_free(gravity)
  call gdr_device_close(device)
  call mpi_comm_free(half, error)
  call mpi_finalize(error)

contains

  ! Sums within a cut-off in a periodic box, and a tree, of some of the particles.
  subroutine sums(on, first, last, u, a)
    type(gdr_device), intent(in) :: on
    integer, intent(in) :: first, last
    real(c_double), target, intent(inout) :: u(n), a(3, n)
    type(gdr_kernel) :: kernel
    type(gdr_pair_sum) :: pairs
    type(gdr_gravity) :: tree
    type(gdr_tree_options) :: options
    type(gdr_tree_report) :: report
    call gdr_kernel_builtin("lennard_jones", kernel, status)
    call gdr_pair_sum_create(on, kernel, 0.5d0, -1d0, 0, pairs, status)
    call gdr_pair_sum_set(pairs, "rc2", 0.25d0, status)
    call gdr_pair_sum_set_box(pairs, box, [.true., .true., .true.], status)
    call gdr_pair_sum_run(pairs, last - first + 1, x(:, first:last), [gdr_named_array ::], &
         [gdr_named_array ::], [gdr_array("u", u(first:last))], status)
    if (status /= gdr_ok) error stop "sum within a cut-off"
    options%method = gdr_tree_monopole
    options%theta = 0.6d0
    call gdr_gravity_create(on, tree, status)
    call gdr_gravity_compute_tree(tree, last - first + 1, x(:, first:last), m(first:last), 0.125d0, &
         a(:, first:last), pot(first:last), options, report, status)
    if (status /= gdr_ok) error stop "tree"
    call gdr_gravity_free(tree)
    call gdr_pair_sum_free(pairs)
    call gdr_kernel_free(kernel)
  end subroutine sums
end program ranks
