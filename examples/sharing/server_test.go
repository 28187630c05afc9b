package main

import (
	"bufio"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/share"
)

func TestServe(t *testing.T) {
	devicetest.Each(t, func(t *testing.T, dev *device.Device) {
		folder, err := os.MkdirTemp("", "sharing")
		require.NoError(t, err)
		defer os.RemoveAll(folder)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		read, write := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			err := run(ctx, options{device: dev.Name(), socket: filepath.Join(folder, "socket")}, write)
			_ = write.CloseWithError(io.EOF)
			ended <- err
		}()
		output := bufio.NewScanner(read)
		for output.Scan() && !strings.HasPrefix(output.Text(), "connect to ") {
		}
		if !strings.HasPrefix(output.Text(), "connect to ") {
			err := <-ended
			require.ErrorIs(t, err, device.ErrNotSupported)
			t.Skip(err)
		}
		go func() { _, _ = io.Copy(io.Discard, read) }()

		client, err := share.DialContext(ctx, filepath.Join(folder, "socket"))
		require.NoError(t, err)
		table, err := client.Open(ctx, devicetest.Manager(t, dev, memory.Options{}), "flights")
		require.NoError(t, err)
		require.EqualValues(t, 200000, table.Capacity())
		_, err = table.ColumnByName("delay")
		require.NoError(t, err)
		require.NoError(t, table.Release())
		require.NoError(t, client.Close())
		cancel()
		require.NoError(t, <-ended)
	})
}

func TestLines(t *testing.T) {
	var out strings.Builder
	l := &lines{to: &out, prefix: "a: "}
	for _, text := range []string{"one\ntw", "o\n", "three"} {
		n, err := l.Write([]byte(text))
		require.NoError(t, err)
		require.Equal(t, len(text), n)
	}
	require.Equal(t, "a: one\na: two\n", out.String())
}
