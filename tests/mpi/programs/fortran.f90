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
  real(c_double) :: x(3, n), m(n), a(3, n), right(3, n), pot(n)
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
  call gdr_gravity_free(gravity)
  call gdr_device_close(device)
  call mpi_comm_free(half, error)
  call mpi_finalize(error)
end program ranks
