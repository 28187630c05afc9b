// Package infer finds the types of the columns of CSV and JSON files from their values.
//
// A column of CSV has the narrowest type of all values that were seen: int64, float64,
// bool, date32, timestamps of growing precision, or text. A column of JSON lines has the
// type of its values: bool, int64, float64, text, lists and objects of them.
package infer
