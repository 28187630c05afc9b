package host

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A stream is not done before its last event, and the event not before the stream.
func TestStreamAndEventEndTogether(t *testing.T) {
	d := newDevice(Driver{}, 0)
	defer d.Close()
	s, err := d.StreamCreate()
	require.NoError(t, err)
	e, err := d.EventCreate(false)
	require.NoError(t, err)
	for range 3000 {
		require.NoError(t, d.EventRecord(e, s))
		for idle := false; !idle; {
			idle, err = d.StreamQuery(s)
			require.NoError(t, err)
		}
		reached, err := d.EventQuery(e)
		require.NoError(t, err)
		require.True(t, reached, "the stream was done before its event")

		require.NoError(t, d.EventRecord(e, s))
		for reached := false; !reached; {
			reached, err = d.EventQuery(e)
			require.NoError(t, err)
		}
		idle, err := d.StreamQuery(s)
		require.NoError(t, err)
		require.True(t, idle, "the event was reached before the stream was done")
	}
	require.NoError(t, d.EventDestroy(e))
	require.NoError(t, d.StreamDestroy(s))
}
