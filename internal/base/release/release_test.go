package release_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/gpuframe/gpuframe/internal/base/release"
)

type item struct {
	released int
	failure  error
}

func (i *item) Release() error {
	if i == nil {
		return nil
	}
	i.released++
	return i.failure
}

func TestAllReleasesTheRestAfterAnError(t *testing.T) {
	failure := errors.New("failure")
	items := []*item{{}, {failure: failure}, {}}
	assert.ErrorIs(t, release.All(items), failure)
	for _, i := range items {
		assert.Equal(t, 1, i.released)
	}
	assert.NoError(t, release.All[*item](nil))
}

func TestOnError(t *testing.T) {
	made := &item{}
	kept, err := release.OnError(made, nil, nil)
	assert.NoError(t, err)
	assert.Same(t, made, kept)
	assert.Zero(t, made.released)

	first, second := errors.New("first"), errors.New("second")
	made.failure = second
	kept, err = release.OnError(made, nil, first)
	assert.ErrorIs(t, err, first)
	assert.ErrorIs(t, err, second)
	assert.Nil(t, kept)
	assert.Equal(t, 1, made.released)

	_, err = release.OnError[*item](nil, first)
	assert.ErrorIs(t, err, first)
}

type handle struct{ item }

func (h *handle) Close() error { return h.Release() }

func TestCloseAllClosesTheRestAfterAnError(t *testing.T) {
	failure := errors.New("failure")
	handles := []*handle{{}, {item{failure: failure}}, {}}
	assert.ErrorIs(t, release.CloseAll(handles), failure)
	for _, h := range handles {
		assert.Equal(t, 1, h.released)
	}
}

func TestStackReleasesTheLastFirst(t *testing.T) {
	var order []string
	failure := errors.New("failure")
	var s release.Stack
	s.Add(release.Func(func() error { order = append(order, "first"); return nil }))
	s.Add(release.Func(func() error { order = append(order, "second"); return failure }))
	assert.ErrorIs(t, s.Release(), failure)
	assert.Equal(t, []string{"second", "first"}, order)
	assert.NoError(t, s.Release(), "it is empty")
}
