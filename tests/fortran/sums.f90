! Sums of any law with a tree, Ewald sums and SPH from Fortran: plain sums, published values, and
! errors.
program fortran_sums
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  integer, parameter :: n = 600
  real(c_double), target :: x(3, n), q(n), u(n)
  type(gdr_device) :: device
  integer :: status, i

  x = reshape([(1.5d0 + 1.4d0 * sin(1.9d0 * i + 0.3d0 * i * i), i = 1, 3 * n)], [3, n])
  q = [(cos(1.1d0 * i), i = 1, n)]
  call gdr_device_open("emulator:engine=native,threads=2", device, status)
  call check(status == gdr_ok, "open")
  call test_tree_sum()
  call test_ewald()
  call test_sph()
  call gdr_device_close(device)
  if (failures > 0) stop 1

contains

  subroutine test_tree_sum()
    character(len=*), parameter :: law = "VARI xi, yi, zi as pos; VARJ xj, yj, zj as pos; VARJ qj; " // &
         "VARF u; dx = xj - xi; dy = yj - yi; dz = zj - zi; " // &
         "u += qj*recip(dx*dx + dy*dy + dz*dz + 1);"
    type(gdr_kernel) :: kernel
    type(gdr_tree_sum) :: sum_of_charges
    type(gdr_tree_sum_options) :: options
    type(gdr_tree_sum_report) :: report
    real(c_double) :: right(n), wrong
    integer :: j, k
    call gdr_kernel_compile(law, "law", kernel, status)
    call check(status == gdr_ok, "compile")
    options%degree = 4
    options%theta = 0.5d0
    call gdr_tree_sum_create(device, kernel, options, sum_of_charges, status)
    call check(status == gdr_ok, "create a sum with a tree")
    call check(gdr_tree_sum_charges(sum_of_charges) == "qj", "charges")
    call gdr_tree_sum_run(sum_of_charges, n, x, [gdr_array("qj", q)], [gdr_named_array ::], &
         [gdr_array("u", u)], report, status)
    call check(status == gdr_ok, "run")
    do k = 1, n
       right(k) = 0
       do j = 1, n
          right(k) = right(k) + q(j) / (sum((x(:, j) - x(:, k))**2) + 1)
       end do
    end do
    wrong = sqrt(sum((u - right)**2) / sum(right**2))
    call check(wrong < 1d-3 .and. report%degree == 4, "sums with a tree")
    call check(gdr_tree_sum_reason(sum_of_charges) == "", "reason")
    call gdr_tree_sum_run(sum_of_charges, n, x, [gdr_array("qk", q)], [gdr_named_array ::], &
         [gdr_array("u", u)], report, status)
    call check(status == gdr_error_usage, "unknown charge")
    call gdr_tree_sum_free(sum_of_charges)
    call gdr_kernel_free(kernel)
  end subroutine test_tree_sum

  ! Rock salt, whose ions are at a distance of 1 from each other.
  subroutine test_ewald()
    real(c_double), parameter :: madelung = 1.7475645946331822d0
    real(c_double) :: salt(3, 8), charge(8), edges(3, 3), force(3, 8), energies(8)
    type(gdr_ewald) :: ewald
    type(gdr_ewald_options) :: options
    type(gdr_ewald_result) :: found
    integer :: k
    do k = 0, 7
       salt(:, k + 1) = [mod(k, 2), mod(k / 2, 2), k / 4]
       charge(k + 1) = 1 - 2 * mod(k + k / 2 + k / 4, 2)
    end do
    edges = 0
    do k = 1, 3
       edges(k, k) = 2
    end do
    options%accuracy = 1d-12
    call gdr_ewald_create(device, ewald, status)
    call check(status == gdr_ok, "create an Ewald sum")
    call gdr_ewald_run(ewald, 8, salt, charge, edges, options, force, energies, found, status)
    call check(status == gdr_ok, "Ewald sum")
    call check(abs(found%energy + 4 * madelung) < 1d-10, "Madelung constant")
    call check(abs(found%virial(1) + found%virial(5) + found%virial(9) - found%energy) < 1d-9, &
         "virial")
    call check(all(abs(energies + madelung / 2) < 1d-10) .and. all(abs(force) < 1d-9), "forces")
    edges(3, 3) = 0
    call gdr_ewald_run(ewald, 8, salt, charge, edges, options, force, energies, found, status)
    call check(status == gdr_error_input, "a flat box")
    call gdr_ewald_free(ewald)
  end subroutine test_ewald

  subroutine test_sph()
    real(c_double) :: mass(n), h(n), rho(n), velocity(3, n), pressure(n), sound(n), acc(3, n), &
         dudt(n), mumax(n), edges(3, 3), momentum, s, both, right
    integer(c_int64_t) :: near(n)
    type(gdr_sph) :: sph
    type(gdr_sph_length_options) :: options
    integer :: iterations, j, k
    mass = 1 + 0.5d0 * q
    h = 0.2d0 + 0.1d0 * q
    call gdr_sph_create(device, sph, status)
    call gdr_sph_density(sph, n, x, mass, h, rho, near, status)
    call check(status == gdr_ok, "density")
    do k = 1, n
       right = 0
       do j = 1, n
          both = (h(k) + h(j)) / 2
          s = sqrt(sum((x(:, j) - x(:, k))**2)) / both
          right = right + mass(j) / (3.141592653589793d0 * both**3) * &
               (0.25d0 * max(2 - s, 0d0)**3 - max(1 - s, 0d0)**3)
       end do
       call check(abs(rho(k) - right) <= 1d-12 * right, "density of a particle")
    end do
    velocity = x
    pressure = 2 + q
    sound = 1
    call gdr_sph_forces(sph, n, x, mass, h, velocity, rho, pressure, sound, 1d0, 2d0, 0.01d0, acc, &
         dudt, mumax, status)
    momentum = sum(mass * acc(2, :))
    call check(status == gdr_ok .and. abs(momentum) < 1d-11 * sum(mass * abs(acc(2, :))), "forces")
    edges = reshape([3d0, 0d0, 0d0, 0d0, 3d0, 0d0, 0d0, 0d0, 3d0], [3, 3])
    call gdr_sph_set_box(sph, edges, [.true., .true., .true.], status)
    options%tolerance = 1d-6
    call gdr_sph_smoothing_lengths(sph, n, x, mass, 0, h, options, h, rho, near, iterations, status)
    call check(status == gdr_ok .and. iterations > 1, "smoothing lengths")
    call check(all(abs(1.2d0 * (mass / rho)**(1d0 / 3) / h - 1) <= 1.001d-6), "lengths")
    h(4) = -1
    call gdr_sph_density(sph, n, x, mass, h, rho, near, status)
    call check(status == gdr_error_input .and. index(gdr_last_error(), "h[3]") > 0, "a negative length")
    call gdr_sph_free(sph)
  end subroutine test_sph
end program fortran_sums
