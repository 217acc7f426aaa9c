! Set jobs of the Fortran module: flattened lists of sets, compared with plain sums and with jobs.
! Stops with 1 if any check fails.
program fortran_sets
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  integer, parameter :: n = 90, sets = 4, listed = 7
  ! Set k has the targets targets(k) to targets(k + 1) - 1, and likewise its sources.
  integer(c_int64_t), parameter :: targets(sets + 1) = [1, 21, 21, 58, 91]
  integer(c_int64_t), parameter :: lists(sets + 1) = [1, 4, 5, 5, 8]
  integer(c_int64_t), parameter :: ranges(sets + 1) = [6, 31, 31, 32, 81]
  integer(c_int32_t), parameter :: places(listed) = [4, 4, 90, 1, 42, 8, 9]
  character(len=*), parameter :: names(2) = [character(len=48) :: &
       "emulator:engine=native,threads=2", "emulator:threads=1,chips=2,blocks=2,pes=3"]

  real(c_double), target :: x(n), m(n), force(n)
  type(gdr_device) :: device
  integer :: status, k, i

  do k = 1, 2
     x = [(mod(i * i, 31) / 8d0, i = 1, n)]
     m = [(mod(i, 5) / 4d0, i = 1, n)]
     call gdr_device_open(names(k), device, status)
     call check(status == gdr_ok, "open")
     call test_lists()
     call test_single_sets()
     call test_vectors()
     call test_errors()
     call gdr_device_close(device)
  end do
  if (failures > 0) stop 1

contains

  ! The forces of plain sums: sources by index, those of the ranges, or both.
  function expected(k, by_index, by_range) result(sums)
    real(c_double), intent(in) :: k
    logical, intent(in) :: by_index, by_range
    real(c_double) :: sums(n)
    integer :: s
    integer(c_int64_t) :: i, j
    sums = 0
    do s = 1, sets
       do i = targets(s), targets(s + 1) - 1
          do j = lists(s), lists(s + 1) - 1
             if (by_index) sums(i) = sums(i) + k * m(places(j)) * (x(places(j)) - x(i))
          end do
          do j = ranges(s), ranges(s + 1) - 1
             if (by_range) sums(i) = sums(i) + k * m(j) * (x(j) - x(i))
          end do
       end do
    end do
  end function expected

  function spring_job() result(job)
    type(gdr_set_job) :: job
    type(gdr_kernel) :: kernel
    call gdr_kernel_compile("CONST k; VARI xi; VARJ xj, mj; VARF force;"//new_line("a")// &
         "force += k*mj*(xj - xi);", "spring", kernel, status)
    call check(status == gdr_ok, "compile")
    call gdr_set_job_create(device, kernel, job, status)
    call check(status == gdr_ok, "create")
    call gdr_kernel_free(kernel)
    call gdr_set_job_set(job, "k", 0.5d0, status)
    call check(status == gdr_ok, "set")
  end function spring_job

  subroutine add_targets(job)
    type(gdr_set_job), intent(in) :: job
    call gdr_set_job_add_sets(job, sets, targets, [gdr_array("xi", x)], &
         [gdr_array("force", force)], status)
    call check(status == gdr_ok, "add_sets")
  end subroutine add_targets

  ! Sources by index and as ranges; a second run reads the arrays again.
  subroutine test_lists()
    type(gdr_set_job) :: job
    type(gdr_statistics) :: statistics
    job = spring_job()
    call add_targets(job)
    call gdr_set_job_add_sources_at(job, sets, lists, listed, places, n, &
         [gdr_array("xj", x), gdr_array("mj", m)], status)
    call check(status == gdr_ok, "add_sources_at")
    call gdr_device_reset_statistics(device, status)
    call gdr_set_job_run(job, status)
    call check(status == gdr_ok, "run")
    call check(all(force == expected(0.5d0, .true., .false.)), "forces of lists")
    call gdr_device_statistics(device, statistics, status)
    call check(statistics%interactions == sum((targets(2:) - targets(:sets)) * &
         (lists(2:) - lists(:sets))), "interactions")

    call gdr_set_job_add_sources(job, sets, ranges, n, &
         [gdr_array("xj", x), gdr_array("mj", m)], status)
    call check(status == gdr_ok, "add_sources")
    m(41) = 3
    call gdr_set_job_start(job, status)
    call check(status == gdr_ok, "start")
    call gdr_set_job_wait(job, status)
    call check(status == gdr_ok .and. gdr_set_job_ready(job), "wait")
    call check(all(force == expected(0.5d0, .true., .true.)), "forces of lists and ranges")

    call gdr_set_job_clear(job, status)
    call add_targets(job)
    call gdr_set_job_run(job, status)
    call check(status == gdr_ok .and. all(force == 0), "forces without sources")
    call gdr_set_job_clear(job, status)
    force = -7
    call gdr_set_job_run(job, status)
    call check(status == gdr_ok .and. all(force == -7d0), "a run without sets")
    call gdr_set_job_free(job)
  end subroutine test_lists

  ! Sets that are added one by one have the sums of flattened lists.
  subroutine test_single_sets()
    type(gdr_set_job) :: job
    integer :: s, count
    job = spring_job()
    do s = 1, sets
       count = int(lists(s + 1) - lists(s))
       call gdr_set_job_add_sets(job, 1, targets(s:s + 1), [gdr_array("xi", x)], &
            [gdr_array("force", force)], status)
       call gdr_set_job_add_sources_at(job, 1, [1_c_int64_t, count + 1_c_int64_t], count, &
            places(lists(s):), n, [gdr_array("xj", x), gdr_array("mj", m)], status)
       call gdr_set_job_add_sources(job, 1, ranges(s:s + 1), n, &
            [gdr_array("xj", x), gdr_array("mj", m)], status)
       call check(status == gdr_ok, "a single set")
    end do
    call gdr_set_job_run(job, status)
    call check(all(force == expected(0.5d0, .true., .true.)), "forces of single sets")
    call gdr_set_job_free(job)
  end subroutine test_single_sets

  ! Vectors: the bits of a job for each set, and accelerations of a direct sum.
  subroutine test_vectors()
    real(c_double), target :: at(3, n), acc(3, n), alone(3, n), near(3, listed), mass(listed)
    real(c_double) :: total(3), size, r2
    type(gdr_kernel) :: kernel
    type(gdr_set_job) :: together
    type(gdr_job) :: one
    integer :: s, i, j, first, count, n_targets
    at = reshape([(sin(3d0 * i), i = 1, 3 * n)], [3, n])
    call gdr_kernel_compile("CONST vec3 b; VARI vec3 x; VARJ vec3 xs; VARJ m; VARF vec3 acc;"// &
         new_line("a")//"d = xs - x; w = rsqrt(dot(d, d) + b.x); acc += m*w*w*w*d;", &
         "gravity", kernel, status)
    call check(status == gdr_ok, "compile gravity")
    call gdr_set_job_create(device, kernel, together, status)
    call gdr_job_create(device, kernel, one, status)
    call gdr_kernel_free(kernel)
    call gdr_set_job_set_values(together, "b", 3, [0.01d0, 0d0, 0d0], status)
    call check(status == gdr_ok, "set_values")
    call gdr_job_set_values(one, "b", 3, [0.01d0, 0d0, 0d0], status)
    call gdr_set_job_add_sets(together, sets, targets, [gdr_array("x", at)], &
         [gdr_array("acc", acc)], status)
    call gdr_set_job_add_sources_at(together, sets, lists, listed, places, n, &
         [gdr_array("xs", at), gdr_array("m", m)], status)
    call gdr_set_job_run(together, status)
    call check(status == gdr_ok, "run of vectors")
    near = at(:, places)
    mass = m(places)
    do s = 1, sets
       first = int(targets(s))
       n_targets = int(targets(s + 1)) - first
       count = int(lists(s + 1) - lists(s))
       call gdr_job_sources(one, count, [gdr_array("xs", near(1, min(lists(s), 7_8)), 8), &
            gdr_array("m", mass(min(lists(s), 7_8)), 8)], status)
       call gdr_job_targets(one, n_targets, [gdr_array("x", at(1, min(first, n)), 8)], status)
       call gdr_job_run(one, [gdr_array("acc", alone(1, min(first, n)), 8)], status)
       call check(status == gdr_ok, "run of a job")
       do i = first, first + n_targets - 1
          total = 0
          size = 0
          do j = int(lists(s)), int(lists(s + 1)) - 1
             r2 = sum((near(:, j) - at(:, i))**2) + 0.01d0
             total = total + mass(j) / (r2 * sqrt(r2)) * (near(:, j) - at(:, i))
             size = size + mass(j) / r2
          end do
          call check(sum(abs(acc(:, i) - total)) <= 1d-6 * size, "an acceleration")
       end do
    end do
    call check(all(acc == alone), "the bits of jobs")
    call gdr_set_job_free(together)
    call gdr_job_free(one)
  end subroutine test_vectors

  ! Invalid arguments: a status and a message each. Messages count from 0.
  subroutine test_errors()
    type(gdr_set_job) :: job
    job = spring_job()
    call gdr_set_job_add_sets(job, 1, [0_c_int64_t, 3_c_int64_t], [gdr_array("xi", x)], &
         [gdr_array("force", force)], status)
    call check(status == gdr_error_usage, "a target before the first")
    call check(index(gdr_last_error(), "offsets[0] is -1") > 0, "its message")
    call gdr_set_job_add_sets(job, 2, [1_c_int64_t, 4_c_int64_t, 3_c_int64_t], &
         [gdr_array("xi", x)], [gdr_array("force", force)], status)
    call check(status == gdr_error_usage, "offsets that decrease")
    call gdr_set_job_add_sets(job, -1, targets, [gdr_array("xi", x)], &
         [gdr_array("force", force)], status)
    call check(status == gdr_error_usage, "a negative number of sets")
    call gdr_set_job_add_sources(job, sets, ranges, n, [gdr_array("xj", x)], status)
    call check(status == gdr_error_usage, "sources without sets")
    call add_targets(job)
    call gdr_set_job_add_sources(job, sets, ranges, 70, [gdr_array("xj", x)], status)
    call check(status == gdr_error_usage, "a list that is longer than the arrays")
    call gdr_set_job_add_sources_at(job, sets, lists, listed, [places(2:), 91_c_int32_t], n, &
         [gdr_array("xj", x), gdr_array("mj", m)], status)
    call check(status == gdr_ok, "an index that is checked later")
    call gdr_set_job_run(job, status)
    call check(status == gdr_error_input, "an index outside of the arrays")
    call check(index(gdr_last_error(), "set 3, segment 0: index[2] is 90") > 0, "its message")
    call gdr_set_job_clear(job, status)
    call add_targets(job)
    call gdr_set_job_add_sources(job, sets, ranges, n, [gdr_array("xj", x)], status)
    call gdr_set_job_run(job, status)
    call check(status == gdr_error_usage, "a missing variable")
    call gdr_set_job_set(job, "kk", 1d0, status)
    call check(status == gdr_error_usage, "an unknown param")
    call gdr_set_job_free(job)
    call gdr_set_job_run(job, status)
    call check(status == gdr_error_usage, "a job that was freed")
  end subroutine test_errors
end program fortran_sets
