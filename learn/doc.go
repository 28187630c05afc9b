// Package learn prepares the columns of queries for models: encodings of categories, scaling, imputation, bins,
// splits and weights.
//
//	labels, err := learn.FitLabels(ctx, train, learn.CategoryOptions{Unknown: learn.UnknownNull}, "city", "shop")
//	scaling, err := learn.FitStandardization(ctx, train, "price")
//	prepared := scaling.Apply(labels.Apply(test))     // a query: nothing runs yet
//	saved, err := json.Marshal(labels)                // what was fitted, for another program
//
// A function Fit… runs a query on the rows of training and returns a value: a struct with exported fields, which
// encoding/json writes and [Decode] reads. Its method Apply adds verbs to another query, of the same columns; nothing is
// read until that one runs. The values are immutable and used from any goroutine.
//
// # Nulls
//
// Aggregates skip nulls, and Apply leaves them null, except for imputation and for categories of nulls.
//
// # Errors
//
// Errors of Fit wrap those of [gpuframe.Query.Collect], [ErrType] for a column of a type that the function does not
// take, [ErrNoRows] for a column without values, and [ErrNotFinite] for one with NaN or infinite values that reach
// what is fitted. Problems of Apply are those of its query, with the place of the
// call.
package learn
