! Sums within a cut-off, gravity with a tree and neighbours from Fortran: plain sums over all pairs
! and images, and errors.
program fortran_pairs
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  integer, parameter :: n = 60, m = 11, reach = 3
  ! Edges are columns; the third one is not periodic.
  real(c_double), parameter :: box(3, 3) = reshape([3d0, 0d0, 0d0, 0.5d0, 2.5d0, 0d0, 0.25d0, &
       -0.5d0, 4d0], [3, 3])
  logical, parameter :: periodic(3) = [.true., .true., .false.]
  real(c_double), target :: x(3, n), at(3, m), q(n), u(n), force(3, n), radius(n)
  integer(c_int64_t), target :: pairs(n)
  type(gdr_device) :: device
  integer :: status, i

  x = reshape([(4 * sin(1.9d0 * i + 0.3d0 * i * i), i = 1, 3 * n)], [3, n])
  at = reshape([(3 * cos(2.3d0 * i), i = 1, 3 * m)], [3, m])
  q = [(cos(1.1d0 * i), i = 1, n)]
  radius = [(0.75d0 + 0.015d0 * i, i = 1, n)]
  call gdr_device_open("emulator:engine=native,threads=2", device, status)
  call check(status == gdr_ok, "open")
  call test_sums()
  call test_trees()
  call test_neighbours()
  call gdr_device_close(device)
  if (failures > 0) stop 1

contains

  ! The potential at a place and the number of pairs, with periodic images up to `images` boxes away;
  ! particle `own` is the place's own.
  subroutine plain_sum(place, own, r, images, potential, count)
    real(c_double), intent(in) :: place(3), r
    integer, intent(in) :: own, images
    real(c_double), intent(out) :: potential
    integer, intent(out) :: count
    integer :: j, a, b
    real(c_double) :: r2
    potential = 0
    count = 0
    do j = 1, n
       do a = -images, images
          do b = -images, images
             if (j == own .and. a == 0 .and. b == 0) cycle
             r2 = sum((x(:, j) + a * box(:, 1) + b * box(:, 2) - place)**2)
             if (r2 >= r**2) cycle
             potential = potential + 2 * q(j) / (r2 + 0.25d0)
             count = count + 1
          end do
       end do
    end do
  end subroutine plain_sum

  subroutine check_sums(places, same, several, images, what)
    real(c_double), intent(in) :: places(:, :)
    logical, intent(in) :: same, several
    integer, intent(in) :: images
    character(len=*), intent(in) :: what
    real(c_double) :: potential
    integer :: k, count
    do k = 1, size(places, 2)
       call plain_sum(places(:, k), merge(k, 0, same), merge(radius(k), 1.25d0, several), images, &
            potential, count)
       call check(pairs(k) == count, what // ": pairs")
       call check(abs(u(k) - potential) <= 1d-12 * (1 + abs(potential)), what // ": potential")
    end do
  end subroutine check_sums

  subroutine test_sums()
    type(gdr_kernel) :: kernel
    type(gdr_pair_sum) :: total
    type(gdr_pair_statistics) :: statistics
    type(gdr_named_array) :: results(3)
    call gdr_kernel_compile("kernel charges; precision long;"// &
         "VARI vec3 x as pos; VARJ vec3 xs as pos; VARJ qj; CONST k;"// &
         "VARF vec3 f; VARF u; VARF int pairs;"//new_line("a")// &
         "d = xs - x; w = k*qj*recip(dot(d, d) + 0.25); f += w*d; u += w; pairs += 1;", &
         "charges", kernel, status)
    call check(status == gdr_ok, "compile")
    call gdr_pair_sum_create(device, kernel, 0d0, -1d0, 0, total, status)
    call check(status == gdr_error_input, "a cut-off of 0")
    call gdr_pair_sum_create(device, kernel, 1.25d0, -1d0, 0, total, status)
    call check(status == gdr_ok, "create")
    call gdr_kernel_free(kernel)
    call gdr_pair_sum_set(total, "k", 2d0, status)
    call check(status == gdr_ok, "set")
    results = [gdr_array("u", u), gdr_array("pairs", pairs), gdr_array("f", force)]

    call gdr_pair_sum_run(total, n, x, [gdr_array("qj", q)], [gdr_named_array ::], results, status)
    call check(status == gdr_ok, "run")
    call check_sums(x, .true., .false., 0, "open space")
    call gdr_pair_sum_set_box(total, box, periodic, status)
    call gdr_pair_sum_run(total, n, x, [gdr_array("qj", q)], [gdr_named_array ::], results, status)
    call check(status == gdr_ok, "run in a box")
    call check_sums(x, .true., .false., reach, "box")
    call gdr_pair_sum_run_on(total, m, at, [gdr_named_array ::], n, x, [gdr_array("qj", q)], &
         results(:2), status)
    call check(status == gdr_ok, "run_on")
    call check_sums(at, .false., .false., reach, "other places")
    call gdr_pair_sum_set_cutoff(total, n, radius, status)
    call gdr_pair_sum_run(total, n, x, [gdr_array("qj", q)], [gdr_named_array ::], results, status)
    call check_sums(x, .true., .true., reach, "a cut-off for each")
    call gdr_pair_sum_set_box(total, box, [.false., .false., .false.], status)
    call gdr_pair_sum_run(total, n, x, [gdr_array("qj", q)], [gdr_named_array ::], results, status)
    call check_sums(x, .true., .true., 0, "no periodic direction")
    call gdr_pair_sum_statistics(total, statistics, status)
    call check(status == gdr_ok .and. statistics%runs == 5 .and. statistics%lists_made == 5, &
         "statistics")

    call gdr_pair_sum_run(total, -3, x, [gdr_array("qj", q)], [gdr_named_array ::], results, status)
    call check(status == gdr_error_usage, "a negative number of particles")
    call gdr_pair_sum_run(total, n, x, [gdr_named_array ::], [gdr_named_array ::], results, status)
    call check(status == gdr_error_usage .and. index(gdr_last_error(), "qj") > 0, "no charges")
    call gdr_pair_sum_free(total)
    call gdr_pair_sum_free(total)
    call gdr_pair_sum_set(total, "k", 2d0, status)
    call check(status == gdr_error_usage, "a sum that was freed")
  end subroutine test_sums

  subroutine test_trees()
    integer, parameter :: many = 3000
    real(c_double) :: place(3, many), mass(many), acc(3, many), direct(3, many), pot(many)
    type(gdr_gravity) :: gravity
    type(gdr_tree_options) :: options
    type(gdr_tree_report) :: report
    place = reshape([(sin(3.7d0 * i) + 0.1d0 * cos(0.01d0 * i), i = 1, 3 * many)], [3, many])
    mass = 1d0 / many
    call gdr_gravity_create(device, gravity, status)
    call gdr_gravity_compute(gravity, many, place, mass, 0.01d0, direct, pot, status)
    call gdr_gravity_compute_tree(gravity, many, place, mass, 0.01d0, acc, pot, options, report, &
         status)
    call check(status == gdr_ok .and. report%method == gdr_tree_direct, "few particles")
    call check(all(acc == direct), "direct sums")
    options%accuracy = 1d-4
    options%method = gdr_tree_multipole
    call gdr_gravity_compute_tree(gravity, many, place, mass, 0.01d0, acc, pot, options, report, &
         status)
    call check(status == gdr_ok .and. report%method == gdr_tree_multipole, "a tree")
    call check(report%error > 0 .and. report%error <= 1d-4 .and. report%samples == 256, "its error")
    call check(sum((acc - direct)**2) < 1d-6 * sum(direct**2), "its forces")
    call gdr_gravity_compute_tree_on(gravity, m, place, many, place, mass, 0.01d0, acc, pot, &
         options, report, status)
    call check(status == gdr_ok .and. report%samples == m, "a tree at other places")
    options%accuracy = 2
    call gdr_gravity_compute_tree(gravity, many, place, mass, 0.01d0, acc, pot, options, report, &
         status)
    call check(status == gdr_error_usage .and. index(gdr_last_error(), "accuracy") > 0, &
         "an accuracy of 2")
    call gdr_gravity_set_softening(gravity, many, 0.02d0 + 0 * mass, 0, mass, status)
    call check(status == gdr_ok, "softening of each particle")
    call gdr_gravity_compute(gravity, many, place, mass, 0d0, acc, pot, status)
    call gdr_gravity_set_softening(gravity, 0, mass, 0, mass, status)
    call gdr_gravity_compute(gravity, many, place, mass, 0.02d0, direct, pot, status)
    call check(sum((acc - direct)**2) < 1d-12 * sum(direct**2), "equal lengths")
    call gdr_gravity_free(gravity)
  end subroutine test_trees

  subroutine test_neighbours()
    type(gdr_neighbours) :: search
    integer(c_int64_t), allocatable :: offsets(:), indices(:), first(:), second(:), shifts(:, :)
    integer(c_int64_t) :: ids(n)
    real(c_double), allocatable :: distances(:), differences(:, :)
    real(c_double) :: potential
    integer :: k, expected, targets, entries
    call gdr_neighbours_create(1, search, status)
    call check(status == gdr_ok, "create a search")
    call gdr_neighbours_set_box(search, box, periodic, status)
    call gdr_neighbours_find(search, n, x, n, radius, "", status)
    call check(status == gdr_ok, "find lists")
    call gdr_neighbours_lists(search, offsets, indices, status)
    call check(status == gdr_ok .and. size(offsets) == n + 1 .and. offsets(1) == 1, "lists")
    do i = 1, n
       call plain_sum(x(:, i), i, radius(i), reach, potential, expected)
       call check(offsets(i + 1) - offsets(i) == expected, "length of a list")
    end do
    call gdr_neighbours_counts(search, targets, entries, status)
    call check(targets == n .and. entries == size(indices), "counts")
    call gdr_neighbours_pairs(search, targets=first, status=status)
    call check(status == gdr_error_usage .and. size(first) == entries, "pairs after lists")

    call gdr_neighbours_find(search, n, x, n, radius, "ijdDS", status)
    call gdr_neighbours_pairs(search, first, second, distances, differences, shifts, status)
    call check(status == gdr_ok .and. all(second == indices), "pairs")
    do k = 1, entries
       call check(k >= offsets(first(k)) .and. k < offsets(first(k) + 1), "the target of a pair")
       call check(all(abs(x(:, second(k)) + matmul(box, real(shifts(:, k), c_double)) &
            - x(:, first(k)) - differences(:, k)) < 1d-12), "the difference of a pair")
       call check(abs(distances(k) - norm2(differences(:, k))) < 1d-12, "the distance of a pair")
    end do
    call gdr_neighbours_find(search, n, x, n, radius, "d", status)
    call gdr_neighbours_pairs(search, distances=distances, status=status)
    call check(status == gdr_ok .and. size(distances) == entries, "distances alone")
    call gdr_neighbours_pairs(search, shifts=shifts, status=status)
    call check(status == gdr_error_usage, "shifts that were not asked for")

    ids = 5
    call gdr_neighbours_set_ids(search, n, ids, m, ids, status)
    call gdr_neighbours_find_on(search, m, at, n, x, 1, radius, "ij", status)
    call gdr_neighbours_pairs(search, targets=first, status=status)
    call check(status == gdr_ok .and. size(first) == 0, "ids")
    call gdr_neighbours_find(search, n, x, 2, radius, "", status)
    call check(status == gdr_error_usage, "two radii")
    call gdr_neighbours_free(search)
    call gdr_neighbours_lists(search, offsets, indices, status)
    call check(status == gdr_error_usage .and. size(indices) == 0, "a search that was freed")
  end subroutine test_neighbours
end program fortran_pairs
