! A Lennard-Jones liquid in a periodic box, velocity Verlet at constant energy, with sums within a
! cut-off; the neighbours of a particle; and gravity to an accuracy.
!   gfortran lj_liquid.f90 -lgdr_fortran -lgdr   (with -I for the directory of gdr.mod)
program lj_liquid
  use, intrinsic :: iso_c_binding
  use gdr
  implicit none
  integer, parameter :: side = 8, n = side**3, many = 20000
  real(c_double), parameter :: cutoff = 2.5d0, dt = 0.004d0, length = side / 0.8d0**(1d0 / 3)
  real(c_double), target :: x(3, n), v(3, n), f(3, n), u(n)
  real(c_double) :: edges(3, 3), start
  real(c_double), allocatable :: place(:, :), mass(:), acc(:, :), pot(:), distances(:)
  integer(c_int64_t), allocatable :: first(:), second(:)
  type(gdr_device) :: device
  type(gdr_kernel) :: kernel
  type(gdr_pair_sum) :: liquid
  type(gdr_neighbours) :: search
  type(gdr_gravity) :: gravity
  type(gdr_pair_statistics) :: statistics
  type(gdr_tree_options) :: options
  type(gdr_tree_report) :: report
  integer :: i, k, t, status

  do i = 1, n
     x(:, i) = ([mod(i - 1, side), mod((i - 1) / side, side), (i - 1) / side**2] + 0.5d0) * length / side
     v(:, i) = [(sin(12.9898d0 * (3 * i + k)) + sin(78.233d0 * (3 * i + k)), k = 1, 3)]
  end do
  edges = 0
  do k = 1, 3
     edges(k, k) = length                       ! edge k is column k
  end do

  call gdr_device_open("", device, status)
  call check()
  call gdr_kernel_builtin("lennard_jones", kernel, status)
  call check()
  call gdr_pair_sum_create(device, kernel, cutoff, -1d0, 0, liquid, status)
  call check()
  call gdr_kernel_free(kernel)
  call gdr_pair_sum_set(liquid, "rc2", cutoff**2, status)
  call check()
  call gdr_pair_sum_set_box(liquid, edges, [.true., .true., .true.], status)
  call check()
  call compute_forces()
  start = energy()
  do t = 1, 50
     v = v + dt / 2 * f
     x = x + dt * v                             ! particles may leave the box
     call compute_forces()
     v = v + dt / 2 * f
  end do
  call gdr_pair_sum_statistics(liquid, statistics, status)
  call check()
  print "(2(a, f9.5), 2(a, i0))", "energy ", start, ", after 50 steps ", energy(), "; lists ", &
       statistics%lists_made, ", runs ", statistics%runs
  if (abs(energy() - start) > 0.05d0) stop 1

  call gdr_neighbours_create(0, search, status)
  call check()
  call gdr_neighbours_set_box(search, edges, [.true., .true., .true.], status)
  call check()
  call gdr_neighbours_find(search, n, x, 1, [1.5d0], "ijd", status)
  call check()
  call gdr_neighbours_pairs(search, targets=first, sources=second, distances=distances, &
       status=status)
  call check()
  print "(a, i0, a, i0, a, f6.3)", "particle 1 has ", count(first == 1), &
       " neighbours within 1.5, the first of them ", second(1), " at ", distances(1)

  allocate (place(3, many), mass(many), acc(3, many), pot(many))
  call random_number(place)
  mass = 1d0 / many
  options%accuracy = 1d-3
  call gdr_gravity_create(device, gravity, status)
  call check()
  call gdr_gravity_compute_tree(gravity, many, place, mass, 0.01d0, acc, pot, options, report, status)
  call check()
  print "(a, f9.6, a, f7.0, a, es8.1)", "potential energy ", 0.5d0 * sum(mass * pot), " with", &
       report%sources_per_target, " sources per target, error", report%error

  call gdr_gravity_free(gravity)
  call gdr_neighbours_free(search)
  call gdr_pair_sum_free(liquid)
  call gdr_device_close(device)

contains

  subroutine check()
    if (status == gdr_ok) return
    print *, gdr_last_error()
    stop 1
  end subroutine check

  subroutine compute_forces()
    call gdr_pair_sum_run(liquid, n, x, [gdr_named_array ::], [gdr_named_array ::], &
         [gdr_array("fx", f(1, 1), 24), gdr_array("fy", f(2, 1), 24), gdr_array("fz", f(3, 1), 24), &
         gdr_array("u", u)], status)
    call check()
  end subroutine compute_forces

  ! The energy for each particle; u counts each pair twice.
  real(c_double) function energy()
    energy = (sum(v**2) + sum(u)) / 2 / n
  end function energy
end program lj_liquid
