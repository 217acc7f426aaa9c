! Systems of linear equations from Fortran. Stops with 1 if any check fails.
program fortran_linear
  use, intrinsic :: iso_c_binding
  use gdr
  use checks
  implicit none

  integer, parameter :: n = 50
  type(gdr_device) :: device
  type(gdr_linear_solver) :: solver
  type(gdr_batched_matrices) :: small
  integer, parameter :: many = 9, little = 6
  real(c_double) :: sa(little, little, many), sf(little, little, many), sc(little, 2, many)
  real(c_double) :: sb(little, 2, many), y(3 * n), expected(n)
  integer(c_int64_t) :: spivots(little, many)
  real(c_double) :: a(n, n), lu(n, n), s(n, n), b(n, 2), x(n, 2)
  integer(c_int64_t) :: pivots(n)
  integer :: i, j, info, status

  do j = 1, n
     do i = 1, n
        a(i, j) = mod(i * 37 + j * j * 11 + i * i * j, 101) / 101.0_c_double - 0.4_c_double
     end do
  end do
  b(:, 1) = 1
  b(:, 2) = [(real(i, c_double), i = 1, n)]
  call gdr_device_open("exact:chips=1,blocks=2", device, status)
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
  do i = 1, n
     lu(i, i) = 3
  end do
  x = b
  call gdr_linear_solve_triangular(solver, "L", "U", "T", "N", n, 2, 0.5_c_double, lu, n, x, n, &
       status)
  do j = 1, n - 1
     lu(j + 1:, j) = 0
  end do
  call check(status == gdr_ok .and. maxval(abs(matmul(transpose(lu), x) - b / 2)) < 1e-9, &
       "a triangular solve")
  call gdr_linear_solve_triangular(solver, "L", "U", "T", "?", n, 2, 1.0_c_double, lu, n, x, n, &
       status)
  call check(status == gdr_error_usage, "no diagonal")

  y = 1
  call gdr_linear_multiply(solver, "T", n, n - 4, 2.0_c_double, a, n, b(:, 2), 1, -1.0_c_double, &
       y, 3, status)
  expected(:n - 4) = 2 * matmul(transpose(a(:, :n - 4)), b(:, 2)) - 1
  call check(status == gdr_ok .and. maxval(abs(y(1:3 * (n - 4):3) - expected(:n - 4))) < 1e-9, &
       "matrix times vector")
  call check(all(y(2::3) == 1) .and. y(3 * (n - 4) + 1) == 1, "and nothing beside it")

  call gdr_batched_matrices_create(device, small, status)
  do j = 1, many
     sa(:, :, j) = a(j:j + little - 1, 2 * j:2 * j + little - 1)
     sb(:, :, j) = a(20:19 + little, j:j + 1)
  end do
  call gdr_batched_multiply(small, sa, sb, sc, status)
  call check(status == gdr_ok, "small products")
  do j = 1, many
     call check(maxval(abs(sc(:, :, j) - matmul(sa(:, :, j), sb(:, :, j)))) < 1e-12, "each product")
  end do
  sf = sa
  call gdr_batched_lu(small, sf, spivots, info, status)
  call check(status == gdr_ok .and. info == 0, "small factorisations")
  call check(all(spivots >= 1) .and. all(spivots <= little), "their pivots")
  call gdr_batched_solve(small, sf, spivots, sc, status)
  call check(status == gdr_ok .and. maxval(abs(sc - sb)) < 1e-9, "small solutions")
  sf = sa
  sf(:, 2, 5) = 0
  call gdr_batched_lu(small, sf, spivots, info, status)
  call check(status == gdr_ok .and. info == 1, "a singular one is counted")
  call gdr_batched_multiply(small, sa, sb(:little - 1, :, :), sc, status)
  call check(status == gdr_error_usage, "small shapes that do not fit")
  call gdr_batched_matrices_free(small)

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
end program fortran_linear
