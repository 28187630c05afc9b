// Package lint holds the rules of this module that gofmt, vet and staticcheck do not
// know, as tests: which package may import which ([Levels]), plain English in
// comments, documents and error messages ([Patterns]), and names that say what they stand
// for ([EmptyNames]).
//
//	go test ./internal/testing/lint
//	go test ./internal/testing/lint -run Style -args -list memory   # every hit below memory/
package lint
