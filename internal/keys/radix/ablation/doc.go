// Package ablation has other forms of the kernels of package radix, to measure what each
// choice is worth: the width of a digit, the rows of a thread, and how the lanes of a warp with
// equal digits are found. bench/kernels times them; no program needs them.
package ablation
