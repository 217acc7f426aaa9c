! The Fortran forms, as programs call them without an interface.
double precision function force_factor(r)
  implicit none
  double precision, intent(in) :: r
  force_factor = 1d0/(1d0 + r)
end function force_factor

double precision function potential_factor(r)
  implicit none
  double precision, intent(in) :: r
  potential_factor = 2d0/(2d0 + r)
end function potential_factor

program client
  implicit none
  integer, parameter :: n = 3
  integer :: id, i, index(n), g6calc_lasthalf2, nearest(n), status, lmax, nbmax, list(4, n)
  double precision :: x(3, n), v(3, n), zero(3), m(n), acc(3, n), jerk(3, n), pot(n), h2(n), dtr(n)
  double precision :: eps2, direct
  external :: g6_open, g6_close, g6_set_j_particle, g6_set_ti, g6calc_firsthalf
  external :: g5_open, g5_set_n, g5_set_xmj, g5_set_eps_to_all, g5_calculate_force_on_x, g5_close
  external :: g5_set_eta, g5_set_cutoff_table
  double precision, external :: force_factor, potential_factor
  external :: gpunb_open, gpunb_send, gpunb_regf, gpunb_close

  zero = 0
  m = [1d0, 2d0, 3d0]
  x = reshape([0d0, 0d0, 0d0, 1d0, 0d0, 0d0, 0d0, 3d0, 0d0], [3, n])
  v = 0
  id = 0
  eps2 = 0
  h2 = 4
  dtr = 0
  index = [1, 2, 3]

  call g6_open(id)
  do i = 1, n
    call g6_set_j_particle(id, i - 1, index(i), 0d0, 0.1d0, m(i), zero, zero, zero, v(1, i), x(1, i))
  end do
  call g6_set_ti(id, 0d0)
  call g6calc_firsthalf(id, n, n, index, x, v, acc, jerk, pot, eps2, h2)
  status = g6calc_lasthalf2(id, n, n, index, x, v, eps2, h2, acc, jerk, pot, nearest)
  direct = -(2d0 + 3d0/3d0)
  if (status /= 0 .or. abs(pot(1) - direct) > 1d-14 .or. any(nearest /= [2, 1, 1])) stop 1
  call g6_close(id)

  call g5_open()
  call g5_set_eps_to_all(0d0)
  call g5_set_n(n)
  call g5_set_xmj(0, n, x, m)
  call g5_calculate_force_on_x(x, acc, pot, n)
  if (abs(pot(1) + direct) > 1d-14) stop 2
  ! With R = r/2: the second particle at R = 0.5, the third at R = 1.5, beyond the cut-off of forces.
  call g5_set_eta(2d0)
  call g5_set_cutoff_table(force_factor, 1d0, 3d0, potential_factor, 5d0, 7d0)
  call g5_calculate_force_on_x(x, acc, pot, n)
  if (abs(acc(1, 1) - 2d0*3d0/1.5d0) > 1d-12 .or. abs(acc(2, 1)) > 0) stop 4
  if (abs(pot(1) - 2d0*7d0*2d0/2.5d0 - 7d0*2d0/3.5d0) > 1d-11) stop 5
  call g5_close()

  lmax = 4
  nbmax = 3
  call gpunb_open(n)
  call gpunb_send(n, m, x, v)
  call gpunb_regf(n, h2, dtr, x, v, acc, jerk, pot, lmax, nbmax, list)
  ! The first two are neighbours of each other and of themselves.
  if (any(list(1:3, 1) /= [2, 0, 1]) .or. list(1, 3) /= 1 .or. abs(pot(1) - 1d0) > 1d-14) stop 3
  call gpunb_close()
end program client
