! The original library's matrix product called from Fortran: no interface, all arguments by reference.
program original
  implicit none
  integer, parameter :: m = 40, n = 9, k = 35
  double precision :: a(m, k), b(n, k), c(m + 1, n), expected(m, n)
  integer :: i, done
  external :: gdr_dgemm, gdr_init, gdr_free, gdrsetboardid, gdrsetnboards, gdrsetforceswapab, &
       gdrresetforceswapab, gdrsetskipsendjmat, gdrresetskipsendjmat, set_matmul_msg_level, &
       gdrdgemm_set_procname, gdrdgemm_set_stress_factor

  a = reshape([(dble(mod(i * 5, 17) - 8), i = 1, size(a))], shape(a))
  b = reshape([(dble(mod(i * 3, 13) - 6), i = 1, size(b))], shape(b))
  expected = 2 * matmul(a, transpose(b)) - 1
  call gdrsetboardid(1)
  call gdrsetnboards(1)
  call gdrdgemm_set_procname(2)
  call gdrdgemm_set_stress_factor(1)
  call set_matmul_msg_level(1)
  call gdr_init()
  call gdrsetforceswapab()
  do i = 1, 2
     c = -1
     done = 0
     call gdr_dgemm(1, 0, m, n, k, 2d0, 1d0, m, n, m + 1, a, b, c, done)
     if (done /= 1) stop 1
     if (any(c(:m, :) /= expected)) stop 2
     if (any(c(m + 1, :) /= -1)) stop 3
     call gdrsetskipsendjmat()
  end do
  call gdrresetskipsendjmat()
  call gdrresetforceswapab()
  call set_matmul_msg_level(0)
  call gdr_dgemm(1, 0, m, n, k, 2d0, 1d0, m - 1, n, m + 1, a, b, c, done)
  if (done /= 0) stop 4
  call gdr_free()
end program original
