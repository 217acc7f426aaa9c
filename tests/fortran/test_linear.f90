! Systems of linear equations from Fortran. Stops with 1 if any check fails.
program test_linear
  use, intrinsic :: iso_c_binding
  use gdr
  implicit none

  integer, parameter :: n = 50
  type(gdr_device) :: device
  type(gdr_linear_solver) :: solver
  real(c_double) :: a(n, n), lu(n, n), s(n, n), b(n, 2), x(n, 2)
  integer(c_int64_t) :: pivots(n)
  integer :: i, j, info, status, failures = 0

  do j = 1, n
     do i = 1, n
        a(i, j) = mod(i * 37 + j * j * 11 + i * i * j, 101) / 101.0_c_double - 0.4_c_double
     end do
  end do
  b(:, 1) = 1
  b(:, 2) = [(real(i, c_double), i = 1, n)]
  call gdr_device_open("emulator:chips=1,blocks=2", device, status)
  call gdr_linear_solver_create(device, gdr_matrix_full, 0.0_c_double, solver, status)
  call check(status == gdr_ok, "create")

  lu = a
  call gdr_linear_lu(solver, n, n, lu, n, pivots, info, status)
  call check(status == gdr_ok .and. info == 0, "lu")
  call check(all(pivots >= [(int(i, c_int64_t), i = 1, n)]) .and. all(pivots <= n), "pivots")
  call check(abs(a(pivots(1), 1)) >= maxval(abs(a(:, 1))), "the first pivot counts from 1")
  x = b
  call gdr_linear_solve(solver, "N", n, 2, lu, n, pivots, x, n, status)
  call check(status == gdr_ok .and. maxval(abs(matmul(a, x) - b)) < 1e-9, "solve")
  x = b
  call gdr_linear_solve(solver, "T", n, 2, lu, n, pivots, x, n, status)
  call check(maxval(abs(matmul(transpose(a), x) - b)) < 1e-9, "solve with the transpose")

  s = matmul(a, transpose(a))
  do i = 1, n
     s(i, i) = s(i, i) + 1
  end do
  lu = s
  call gdr_linear_cholesky(solver, "U", n, lu, n, info, status)
  call check(status == gdr_ok .and. info == 0, "cholesky")
  x = b
  call gdr_linear_solve_cholesky(solver, "U", n, 2, lu, n, x, n, status)
  call check(maxval(abs(matmul(s, x) - b)) < 1e-9, "its solution")

  lu = a
  lu(:, 7) = 0
  call gdr_linear_lu(solver, n, n, lu, n, pivots, info, status)
  call check(status == gdr_ok .and. info == 7, "the first zero pivot counts from 1")
  call gdr_linear_lu(solver, n, n, lu, n - 1, pivots, info, status)
  call check(status == gdr_error_usage, "a leading dimension that is too small")
  call gdr_linear_cholesky(solver, "X", n, lu, n, info, status)
  call check(status == gdr_error_usage, "no triangle")

  call gdr_linear_solver_free(solver)
  call gdr_device_close(device)
  if (failures > 0) error stop 1

contains

  subroutine check(ok, what)
    logical, intent(in) :: ok
    character(len=*), intent(in) :: what
    if (ok) return
    failures = failures + 1
    print *, "failed: ", what, " (last error: ", gdr_last_error(), ")"
  end subroutine check

end program test_linear
