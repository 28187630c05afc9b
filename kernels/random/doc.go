// Package random makes columns of random numbers.
//
// Value i of a column depends on the seed and on its number alone: it is a block of
// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel Random Numbers: As Easy as 1, 2,
// 3", 2011) with the number as the counter and the seed as the key. So the host and every
// GPU make the same columns, and parts of a column that begin at other numbers continue it.
// The values do not change between releases. They are not for cryptography.
package random
