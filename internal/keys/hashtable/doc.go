// Package hashtable finds the rows of a column that have equal values. Dictionary
// encoding, unique and value counts use it.
//
// On a GPU one kernel inserts all rows into a hash table in device memory. A slot holds
// a row, not a key, so keys of every type and length share one table layout. The lowest
// row of each key stays; the order of the threads does not matter. Each table has random
// seeds, so that values chosen to collide do not. Results do not depend on the seeds.
//
// The first rows of all groups come from the table, as one bit for each row. Codes, the
// number of the group of each row, also need the rank of each first row: a cumulative
// sum over the words of bits, and the bits of one word.
//
// On the host few groups are found by each processor in part of the rows with a separate table. These
// are then merged by hash, also in parallel. Many groups are found in partitions of the rows by
// hash, which take 24 bytes for each row beside the codes, and integers in a short range by places.
// The results are the same.
//
// The table takes 8 bytes for each key that there can be, until [Find] returns: one for
// each row of the column's capacity, or for each value of the type or the dictionary. Codes
// take 4 bytes for each row until [Groups.Release].
//
// The package uses the operators of kernels/selection and of cumulative sums, so it is
// above them in the import order.
package hashtable
