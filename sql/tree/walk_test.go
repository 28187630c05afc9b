package tree_test

import (
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/internal/testing/sqltest"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// TestWalk: a walk visits each expression, query, body and table of a tree once, and no node below one for which
// visit returns false.
func TestWalk(t *testing.T) {
	r := property.Random(t)
	for range 1000 {
		root := sqltest.Statement(r, 1+r.IntN(3))
		want := map[tree.Node]int{}
		nodes(reflect.ValueOf(root), want)
		visits := map[tree.Node]int{}
		tree.Walk(root, func(n tree.Node, depth int) bool {
			visits[n]++
			require.Equal(t, n == tree.Node(root), depth == 0)
			return true
		})
		for n := range want {
			require.Equal(t, 1, visits[n], "visits of a %T", n)
		}
		require.Len(t, visits, len(want))
		count := 0
		tree.Walk(root, func(tree.Node, int) bool {
			count++
			return false
		})
		require.Equal(t, 1, count)
	}
}

// nodes counts the nodes of a value that a walk visits.
func nodes(v reflect.Value, visits map[tree.Node]int) {
	switch v.Kind() {
	case reflect.Interface:
		if !v.IsNil() {
			nodes(v.Elem(), visits)
		}
	case reflect.Pointer:
		if v.IsNil() {
			return
		}
		switch n := v.Interface().(type) {
		case tree.Expr, tree.Body, tree.Table, tree.Statement:
			visits[n.(tree.Node)]++
		}
		nodes(v.Elem(), visits)
	case reflect.Slice:
		for i := range v.Len() {
			nodes(v.Index(i), visits)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			nodes(v.Field(i), visits)
		}
	}
}
