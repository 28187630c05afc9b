// Package infer finds the types of the columns of CSV and JSON files from their values.
//
// A column of CSV has the narrowest type of all values that were seen: int64, uint64, decimals of
// 38 digits for longer integers, float64, bool, date32, timestamps of growing precision, or text.
// A column of JSON lines has the type of its values: bool, numbers as in CSV, text, lists and
// objects of them.
//
// A number is written as it is in other programs: digits without underscores, hexadecimal digits
// or a plus sign. Integers keep all digits: if no type of numbers holds all values of a column, it
// is text.
package infer
