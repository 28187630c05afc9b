// Package hashtable finds the rows of a column that have equal values. Dictionary
// encoding, unique and value counts use it.
//
// On a GPU one kernel inserts all rows into a hash table in device memory. A slot holds
// a row, not a key, so keys of every type and length share one table layout. The lowest
// row of each key stays; the order of the threads does not matter. Each table has random
// seeds, so that values chosen to collide do not. Results do not depend on the seeds.
//
// The first rows of all groups come from the table. Codes, the number of the group of
// each row, also need the rank of each first row, which is a cumulative sum.
//
// The table takes 8 bytes for each row of the column's capacity until [Find] returns,
// codes take 12 more until [Groups.Release]. Nothing here waits for a GPU.
//
// The package uses the operators of kernels/selection and of cumulative sums, so it is
// above them in the import order.
package hashtable
