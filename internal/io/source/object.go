package source

import (
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"sync"

	"github.com/gpuframe/gpuframe/objectstore"
)

// object is an object of a store that a source reads. It is opened without a request: what is known of it comes from a
// list. If it has changed since, reading it is an error, and the store describes it again when it is opened again.
type object struct {
	store objectstore.Store

	mu    sync.Mutex
	about objectstore.Object
	stale bool
	// end is the last bytes of the object, as far as they were read.
	end []byte
	// pending counts requests of no reader, until one reports them.
	pending Counters
}

// endBytes is the length of the end of an object that is read with the first part of it: it has the footer of most files.
var endBytes int64 = 64 << 10 // tests change it

// mostEnd is the length of the end that is kept at most.
const mostEnd = 16 << 20

// open implements [opener].
func (o *object) open(ctx context.Context, counters *Counters) (*opened, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.stale {
		about, err := o.store.Stat(ctx, o.about.Name)
		if err != nil {
			return nil, err
		}
		o.about, o.stale, o.end = about, false, nil
	}
	if counters == nil {
		counters = &o.pending
	}
	r := &objectReader{ctx: ctx, object: o, about: o.about, counters: counters}
	return &opened{
		version: version{size: o.about.Size, changed: o.about.Modified, etag: o.about.ETag},
		from:    r, close: func() error { return nil }, remote: r,
	}, nil
}

// objectReader reads an object as it was when it was opened.
type objectReader struct {
	ctx      context.Context
	object   *object
	about    objectstore.Object
	counters *Counters
}

// ReadAt implements [io.ReaderAt]. It keeps the end of the object.
func (r *objectReader) ReadAt(p []byte, offset int64) (n int, err error) {
	if left := r.about.Size - offset; left < int64(len(p)) {
		if left <= 0 {
			return 0, io.EOF
		}
		p, err = p[:left], io.EOF
	}
	if failure := r.readEnd(offset, int64(len(p))); failure != nil {
		return 0, failure
	}
	if failure := r.read(r.ctx, p, offset); failure != nil {
		return 0, failure
	}
	return len(p), err
}

// readEnd reads the end of the object for a read that reaches it: at least as much as that.
func (r *objectReader) readEnd(offset, length int64) error {
	o := r.object
	o.mu.Lock()
	defer o.mu.Unlock()
	begin := r.about.Size - int64(len(o.end))
	least := max(0, r.about.Size-endBytes)
	if o.about != r.about || offset >= begin || offset+length <= min(begin, least) || r.about.Size-offset > mostEnd {
		return nil
	}
	begin = min(offset, least)
	end := make([]byte, r.about.Size-begin)
	err := r.request(r.ctx, end, begin)
	if err == nil {
		o.end = end
	}
	o.stale = o.stale || errors.Is(err, objectstore.ErrChanged)
	return err
}

// read fills a slice with bytes of the object.
func (r *objectReader) read(ctx context.Context, p []byte, offset int64) error {
	o := r.object
	o.mu.Lock()
	end := o.end
	if o.about != r.about {
		end = nil
	}
	o.mu.Unlock()
	if begin := r.about.Size - int64(len(end)); offset >= begin {
		copy(p, end[offset-begin:])
		return nil
	}
	err := r.request(ctx, p, offset)
	if errors.Is(err, objectstore.ErrChanged) {
		o.mu.Lock()
		o.stale = true
		o.mu.Unlock()
	}
	return err
}

// request reads bytes of the object from the store.
func (r *objectReader) request(ctx context.Context, p []byte, offset int64) error {
	defer beginRequest(ctx)()
	return r.counters.request(ctx, int64(len(p)), func(ctx context.Context) error { return r.object.store.ReadRange(ctx, r.about, p, offset) })
}

// remote reports whether a file is an object of a store.
func (p *paths) remote() bool {
	return slices.ContainsFunc(p.files, func(file path) bool { return file.object != nil })
}

// width is the number of files that are read at a time.
func (p *paths) width() int {
	if p.remote() {
		return mostRequests
	}
	return runtime.GOMAXPROCS(0)
}

// streamsAtATime is the number of files that are read from the beginning to the end at a time.
func (p *paths) streamsAtATime() int { return min(len(p.files), 1+runtime.GOMAXPROCS(0)) }

// blockBytes is the memory of the blocks of a file, if it is an object.
func (p *paths) blockBytes(place int) int64 {
	o := p.files[place].object
	if o == nil {
		return 0
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return blockBytes(o.about.Size, p.streamsAtATime())
}

// report moves what the objects of paths have counted before a query to its counters.
func (p *paths) report(counters *Counters) {
	for _, file := range p.files {
		if o := file.object; o != nil && counters != nil {
			counters.take(&o.pending)
		}
	}
}
