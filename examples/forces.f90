! Gravity from Fortran: positions x(3,n) and masses m(n); returns accelerations and potentials.
!   gfortran forces.f90 -lgdr_fortran -lgdr   (with -I for the directory of gdr.mod)
program forces
  use, intrinsic :: iso_c_binding
  use gdr
  implicit none
  integer, parameter :: n = 500
  real(c_double) :: x(3, n), m(n), acc(3, n), pot(n)
  type(gdr_device) :: device
  type(gdr_gravity) :: gravity
  integer :: i, status

  do i = 1, n
     x(:, i) = [cos(1.1d0 * i), sin(2.3d0 * i), sin(0.4d0 * i)]
  end do
  m = 1d0 / n

  call gdr_device_open("", device, status)      ! GDR_DEVICE, or an emulated board by default
  if (status == gdr_ok) call gdr_gravity_create(device, gravity, status)
  if (status == gdr_ok) call gdr_gravity_compute(gravity, n, x, m, 0.05d0, acc, pot, status)
  if (status /= gdr_ok) then
     print *, gdr_last_error()
     stop 1
  end if
  print "(a, f12.9)", "potential energy ", 0.5d0 * sum(m * pot)
  print "(a, 3es12.4)", "acceleration of the first ", acc(:, 1)
  call gdr_gravity_free(gravity)
  call gdr_device_close(device)
end program forces
