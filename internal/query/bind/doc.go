// Package bind makes the plans of queries. A query is a chain of steps, and each step is a verb on the
// rows of other steps. Binding checks the verbs and their expressions against the schemas of the sources,
// and collects all problems. Queries that read tables and have the same shape share one optimized plan.
package bind
