package staging

import (
	"context"
	"errors"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
	"github.com/gpuframe/gpuframe/internal/driver/streamwork"
)

// A device copies in the order in which copies can begin, whatever their streams: a short upload that a query waits for would
// wait for all long ones that were enqueued before, which may be some hundred MiB of a file. So long direct uploads are
// enqueued by parts, of which few are with the device at a time.

const (
	// longPart is the length of the copies that are enqueued together: 0.16 ms of a link of 50 GB/s.
	longPart = 8 << 20
	// partsAhead is the number of parts that the device has at a time: one that it copies, and another one while the
	// host notices the end.
	partsAhead = 2
)

// parts divides copies into parts.
func parts(direct []directCopy) (list [][]directCopy) {
	var next []directCopy
	room := uint64(longPart)
	for _, d := range direct {
		for d.bytes() >= room {
			list = append(list, append(next, directCopy{at: d.at, data: d.data[:room]}))
			d = directCopy{at: d.at.Add(room), data: d.data[room:]}
			next, room = nil, longPart
		}
		if d.bytes() > 0 {
			next, room = append(next, d), room-d.bytes()
		}
	}
	if len(next) > 0 {
		list = append(list, next)
	}
	return list
}

// uploadDirect enqueues fills and direct copies, and waits for all parts but the last ones. Long uploads take
// turns: the parts of one are not behind those of a later one. So one also waits for the work that is on the stream of another.
func (e *Engine) uploadDirect(ctx context.Context, stream *device.Stream, blank []blankFill, direct []directCopy) (err error) {
	enqueue := func(copy directCopy, handle backend.Stream) error {
		return e.device.Driver().CopyToDeviceAsync(copy.at, copy.host(), copy.bytes(), handle)
	}
	list := parts(direct)
	if len(list) <= partsAhead {
		return e.enqueueDirect(stream, blank, direct, enqueue)
	}
	if err := e.enqueueDirect(stream, blank, nil, enqueue); err != nil {
		return err
	}
	select {
	case e.long <- struct{}{}:
	case <-ctx.Done():
		return cancel.Error(ctx)
	}
	defer func() { <-e.long }()
	var events [partsAhead]*device.Event
	defer func() {
		for _, event := range events {
			if event != nil {
				err = errors.Join(err, event.Close())
			}
		}
	}()
	for i := range events {
		if events[i], err = e.device.NewEvent(); err != nil {
			return err
		}
	}
	for i, part := range list {
		event := events[i%partsAhead]
		if i >= partsAhead {
			if err := errors.Join(event.Wait(context.Background()), cancel.Error(ctx)); err != nil {
				return err
			}
		}
		if err := streamwork.EnqueueMarked(stream, event, func(handle backend.Stream) error {
			for _, d := range part {
				if err := enqueue(d, handle); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}
