! Reductions other than sums in the Fortran module, in jobs and sets, and adjoint kernels: plain
! loops are the reference. Stops with 1 if any check fails.
program fortran_reductions
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  integer, parameter :: n = 17, m = 60, k = 8, sets = 3
  integer(c_int64_t), parameter :: targets(sets + 1) = [1, 6, 6, 18]
  integer(c_int64_t), parameter :: ranges(sets + 1) = [1, 1, 31, 61]
  character(len=*), parameter :: names(2) = [character(len=48) :: &
       "emulator:engine=native,threads=2", "emulator:threads=1,chips=2,blocks=2,pes=3"]

  real(c_double), target :: x(n), y(m), v(m), near(k, n), l(n), mean(n), product_of(n)
  real(c_double), target :: g(n), x_bar(n)
  integer(c_int64_t), target :: id(m), which(k, n), any_of(n), all_of(n)
  type(gdr_device) :: device
  integer :: status, d, i, j

  x = [(mod(i * 7, 11) / 8d0, i = 1, n)]
  y = [(mod(j * 13, 23) / 8d0 - 1, j = 1, m)]
  v = [(mod(j * 5, 9) / 4d0, j = 1, m)]
  g = [(mod(i, 5) / 4d0 - 0.4d0, i = 1, n)]
  id = [(int(j, c_int64_t), j = 1, m)]
  do d = 1, 2
     call gdr_device_open(names(d), device, status)
     call check(status == gdr_ok, "open")
     call test_ranks()
     call test_ranks_of_sets()
     call test_other_reductions(m)
     call test_other_reductions(0)
     call test_adjoint()
     call gdr_device_close(device)
  end do
  if (failures > 0) stop 1

contains

  function compiled(text) result(kernel)
    character(len=*), intent(in) :: text
    type(gdr_kernel) :: kernel
    call gdr_kernel_compile("precision long;"//new_line("a")//text, "law", kernel, status)
    call check(status == gdr_ok, "compile")
  end function compiled

  function ranks() result(kernel)
    type(gdr_kernel) :: kernel
    kernel = compiled("VARI x; VARJ y, v; VARJ int id; VARF near[8]; VARF int which[8];"// &
         new_line("a")//"near smallest= (y - x)^2 : which = id;")
  end function ranks

  ! The ranks of target t among the sources first to last, those of a stable sort by selection.
  subroutine check_ranks(t, first, last)
    integer, intent(in) :: t, first, last
    logical :: used(m)
    integer :: rank, least, s
    used = .false.
    do rank = 1, k
       least = 0
       do s = first, last
          if (used(s)) cycle
          if (least == 0) then
             least = s
          else if ((y(s) - x(t))**2 < (y(least) - x(t))**2) then
             least = s
          end if
       end do
       if (least == 0) then
          call check(near(rank, t) > huge(1d0) .and. which(rank, t) == -1, "unused rank")
       else
          used(least) = .true.
          call check(near(rank, t) == (y(least) - x(t))**2 .and. which(rank, t) == id(least), "rank")
       end if
    end do
  end subroutine check_ranks

  subroutine run(kernel, sources, results)
    type(gdr_kernel), intent(in) :: kernel
    integer, intent(in) :: sources
    type(gdr_named_array), intent(in) :: results(:)
    type(gdr_job) :: job
    call gdr_job_create(device, kernel, job, status)
    call check(status == gdr_ok, "create")
    call gdr_job_targets(job, n, [gdr_array("x", x)], status)
    call check(status == gdr_ok, "targets")
    call gdr_job_sources(job, sources, &
         [gdr_array("y", y), gdr_array("v", v), gdr_array("id", id)], status)
    call check(status == gdr_ok, "sources")
    call gdr_job_run(job, results, status)
    call check(status == gdr_ok, "run")
    call gdr_job_free(job)
  end subroutine run

  subroutine test_ranks()
    integer, parameter :: counts(3) = [m, 3, 0]
    type(gdr_kernel) :: kernel
    integer :: c, t
    kernel = ranks()
    do c = 1, 3
       call run(kernel, counts(c), [gdr_array("near", near), gdr_array("which", which)])
       do t = 1, n
          call check_ranks(t, 1, counts(c))
       end do
    end do
    call gdr_kernel_free(kernel)
  end subroutine test_ranks

  subroutine test_ranks_of_sets()
    type(gdr_kernel) :: kernel
    type(gdr_set_job) :: job
    integer :: s, t
    kernel = ranks()
    call gdr_set_job_create(device, kernel, job, status)
    call check(status == gdr_ok, "create")
    call gdr_set_job_add_sets(job, sets, targets, [gdr_array("x", x)], &
         [gdr_array("near", near), gdr_array("which", which)], status)
    call check(status == gdr_ok, "sets")
    call gdr_set_job_add_sources(job, sets, ranges, m, &
         [gdr_array("y", y), gdr_array("v", v), gdr_array("id", id)], status)
    call check(status == gdr_ok, "sources")
    call gdr_set_job_run(job, status)
    call check(status == gdr_ok, "run")
    do s = 1, sets
       do t = int(targets(s)), int(targets(s + 1)) - 1
          call check_ranks(t, int(ranges(s)), int(ranges(s + 1)) - 1)
       end do
    end do
    call gdr_set_job_free(job)
    call gdr_kernel_free(kernel)
  end subroutine test_ranks_of_sets

  subroutine test_other_reductions(sources)
    integer, intent(in) :: sources
    type(gdr_kernel) :: kernel
    real(c_double) :: shares(sources), largest
    integer :: t
    kernel = compiled("VARI x; VARJ y, v; VARJ int id; VARF l, mean, p; VARF int some, every;"// &
         new_line("a")//"d = y - x; l logsumexp= 500*d : mean = v; p *= 1 + 0.25*d;"// &
         "some or= d > 1.5; every and= d < 1.5;")
    call run(kernel, sources, [gdr_array("l", l), gdr_array("mean", mean), &
         gdr_array("p", product_of), gdr_array("some", any_of), gdr_array("every", all_of)])
    do t = 1, n
       associate (distance => y(1:sources) - x(t))
         call check((any_of(t) == 1) .eqv. any(distance > 1.5d0), "or")
         call check((all_of(t) == 1) .eqv. all(distance < 1.5d0), "and")
         call check(abs(product_of(t) - product(1 + 0.25d0 * distance)) <= &
              1d-12 * abs(product_of(t)), "product")
         if (sources == 0) then
            call check(l(t) < -huge(1d0) .and. mean(t) == 0, "no sources")
         else
            largest = maxval(500 * distance)
            shares = exp(500 * distance - largest)
            call check(abs(l(t) - largest - log(sum(shares))) <= 1d-12 * (1 + abs(l(t))), "log")
            call check(abs(mean(t) - sum(shares * v(1:sources)) / sum(shares)) <= 1d-12, "mean")
         end if
       end associate
    end do
    call gdr_kernel_free(kernel)
  end subroutine test_other_reductions

  ! S = sum of g f with f = sum of v exp(-a (x - y)^2): its derivatives by x.
  subroutine test_adjoint()
    real(c_double), parameter :: a = 0.75d0
    real(c_double) :: terms(m)
    type(gdr_kernel) :: law, adjoint
    type(gdr_job) :: job
    integer :: t
    law = compiled("CONST a; VARI x; VARJ y, v; VARF f; d = x - y; f += v*exp(-a*d*d);")
    call gdr_kernel_adjoint(law, "x", adjoint, status)
    call check(status == gdr_ok .and. gdr_kernel_name(adjoint) == "law_adjoint", "adjoint")
    call gdr_job_create(device, adjoint, job, status)
    call gdr_job_set(job, "a", a, status)
    call gdr_job_targets(job, n, [gdr_array("x", x), gdr_array("f_bar", g)], status)
    call gdr_job_sources(job, m, [gdr_array("y", y), gdr_array("v", v)], status)
    call gdr_job_run(job, [gdr_array("x_bar", x_bar)], status)
    call check(status == gdr_ok, "run")
    do t = 1, n
       terms = -2 * a * (x(t) - y) * g(t) * v * exp(-a * (x(t) - y)**2)
       call check(abs(x_bar(t) - sum(terms)) <= 1d-12 * sum(abs(terms)), "derivative")
    end do
    call gdr_job_free(job)
    call gdr_kernel_free(adjoint)
    call gdr_kernel_adjoint(law, "x, y", adjoint, status)
    call check(status == gdr_error_usage, "targets and sources")
    call check(index(gdr_last_error(), "adjoints of their own") > 0, "message")
    call gdr_kernel_free(law)
  end subroutine test_adjoint
end program fortran_reductions
