# kernlab's Crammer-Singer machine: Rscript spoc.R data.csv (label first) gamma C tol alpha.csv
# prints the CPU seconds of ksvm() alone and the versions; alpha.csv is n x k, tau/beta in the paper's letters
suppressMessages(library(kernlab))
a <- commandArgs(TRUE); p <- as.numeric(a[2:4])
d <- as.matrix(read.csv(a[1], header = FALSE)); y <- factor(d[, 1]); X <- d[, -1]
t <- proc.time()
m <- ksvm(X, y, type = "spoc-svc", kernel = "rbfdot", kpar = list(sigma = p[1]), C = p[2], tol = p[3], scaled = FALSE, fit = FALSE)
t <- proc.time() - t
cat(sum(t[1:2]), "\n")
write.table(format(alpha(m), digits = 17), a[5], row.names = FALSE, col.names = FALSE, sep = ",", quote = FALSE)
