package gpuframe_test

import (
	"context"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

// TestRunningQueriesAreSeenAndCancelled looks at a query while its source stands still.
func TestRunningQueriesAreSeenAndCancelled(t *testing.T) {
	e := smallEngine(t, 1<<30)
	tenant, err := e.Tenant("tenant", 0)
	require.NoError(t, err)
	defer func() { require.NoError(t, tenant.Close()) }()
	record := sales(t)
	reader := newGated(t, []arrow.Record{record, record})
	ended := make(chan gpuframe.EndedQuery, 2)
	stop := e.ObserveQueries(func(q gpuframe.EndedQuery) { ended <- q })
	before := time.Now()
	done := start(t, t.Context(), tenant.Reader(reader).Sort(price), gpuframe.Tag("<report>"))
	<-reader.inside
	for _, on := range []*gpuframe.Engine{e, tenant} {
		list := on.Running()
		require.Len(t, list, 1)
		q := list[0]
		assert.Equal(t, "<report>", q.Tag)
		assert.Equal(t, "tenant", q.Manager)
		assert.False(t, q.Waiting)
		assert.False(t, q.Begin.Before(before))
		assert.Contains(t, q.Plan, "sort")
		assert.NotEmpty(t, q.Operation)
	}
	id := e.Running()[0].ID
	assert.False(t, e.Cancel(id+1))
	assert.True(t, tenant.Cancel(id))
	close(reader.open)
	err = (<-done).err
	require.ErrorIs(t, err, gpuframe.ErrCancelled)
	require.ErrorIs(t, err, context.Canceled)
	q := <-ended
	assert.Equal(t, id, q.ID)
	assert.Equal(t, err, q.Err)
	assert.Positive(t, q.Duration)
	assert.Empty(t, e.Running())
	assert.False(t, e.Cancel(id))

	collect(t, e.Records(record.Schema(), record).Sort(price))
	q = <-ended
	require.NoError(t, q.Err)
	assert.Empty(t, q.Operation)
	stop()
	collect(t, e.Records(record.Schema(), record).Sort(price))
	assert.Empty(t, ended)
}
