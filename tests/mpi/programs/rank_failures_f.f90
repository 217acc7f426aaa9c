! The Fortran interface under a rank failure: forces while rank 1 kills itself. Every remaining rank
! prints its results.
!
! usage: test_mpi_rank_failures_f DEVICE
! The callback is a module procedure: an internal one of the program needs an executable stack.
module part_of_forces
  use, intrinsic :: iso_c_binding
  use gdr
  implicit none
  interface
     function c_raise(signal) bind(c, name="raise") result(status)
       import :: c_int
       integer(c_int), value :: signal
       integer(c_int) :: status
     end function c_raise
  end interface
  integer, parameter :: n = 60
  type(gdr_device) :: device
  type(gdr_gravity) :: gravity
  real(c_double) :: x(3, n), m(n), a(3, n), pot(n)
  integer :: first, last, killed
  logical :: victim

contains

  ! Forces on this rank's part of the particles; all ranks store all particles.
  subroutine forces(status)
    integer, intent(out) :: status
    first = n*gdr_device_rank(device)/gdr_device_ranks(device) + 1
    last = n*(gdr_device_rank(device) + 1)/gdr_device_ranks(device)
    if (victim) killed = c_raise(9_c_int)
    call gdr_gravity_compute(gravity, last - first + 1, x(:, first:last), m(first:last), 0.125d0, &
         a(:, first:last), pot(first:last), status)
  end subroutine forces

end module part_of_forces

program rank_failures
  use part_of_forces
  implicit none
  type(gdr_device) :: alone
  type(gdr_gravity) :: reference
  real(c_double) :: right(3, n)
  integer, allocatable :: failed(:)
  integer :: status, me, k
  character(len=80) :: name

  call get_command_argument(1, name)
  do k = 1, n
     x(:, k) = [mod(7*k, 31), mod(5*k, 29), mod(3*k, 23)]/31.0d0
     m(k) = 1.0d0/(k + 2)
  end do
  call gdr_device_open("exact:threads=1", alone, status)
  call gdr_gravity_create(alone, reference, status)
  call gdr_gravity_compute(reference, n, x, m, 0.125d0, right, pot, status)
  if (status /= gdr_ok) error stop "alone"
  call gdr_device_open(trim(name), device, status)
  if (status /= gdr_ok) error stop "open"
  me = gdr_device_rank(device)
  call gdr_gravity_create(device, gravity, status)
  victim = me == 1
  call gdr_device_retry_on_rank_failure(device, forces, status)
  print "(i0, a, i0)", me, ": status ", status
  print "(i0, a, i0, a, i0, a, l1)", me, ": rank ", gdr_device_rank(device), " of ", &
       gdr_device_ranks(device), ", the same ", all(a(:, first:last) == right(:, first:last))
  ! No rank has failed since.
  call gdr_device_shrink(device, failed, status)
  print "(i0, a, i0, a, i0)", me, ": status ", status, ", failed ", size(failed)
  deallocate (failed)  ! variables of a main program are not freed automatically
  call gdr_gravity_free(gravity)
  call gdr_device_close(device)
end program rank_failures
