package source

import (
	"context"
	"io"
	"runtime"
	"sync"
)

// Objects of formats that are read from the beginning to the end are read in blocks. As long as they are read in their order,
// the next ones are requested in advance: one, then two, and so on.

var objectBlockBytes int64 = 2 << 20 // tests change it

// mostBlocksAhead is the number of blocks of a file that are requested in advance: with 50 ms until an answer begins, 16
// are 0.6 GB/s for each file. Files that are read at the same time share mostRequests.
const mostBlocksAhead = 16

// blocksAhead returns the number of blocks that each of several files requests in advance.
func blocksAhead(files int) int64 {
	return int64(max(1, min(mostBlocksAhead, mostRequests/max(1, files))))
}

// blocksBehind returns the number of blocks of a file before the last one that are kept.
func blocksBehind() int64 { return 2 + int64(runtime.GOMAXPROCS(0)*textPiece)/objectBlockBytes }

// blockBytes returns the memory of the blocks of an object.
func blockBytes(size int64, files int) int64 {
	return min(size, (blocksBehind()+1+blocksAhead(files))*objectBlockBytes)
}

// objectBlocks reads an object in blocks. The methods may be called concurrently.
type objectBlocks struct {
	from *objectReader
	ctx  context.Context
	stop context.CancelFunc
	// behind is the number of blocks before the last one that are kept, and that may be left out in order: goroutines read
	// parts of a text at the same time. most is the number of blocks in advance.
	behind  int64
	most    int64
	reading sync.WaitGroup

	mu     sync.Mutex
	blocks map[int64]*objectBlock
	// last is the greatest block that was read in order, and ahead the number of those in advance.
	last, ahead int64
}

// objectBlock is a block of an object.
type objectBlock struct {
	ended chan struct{} // closed when bytes or err is set
	bytes []byte
	err   error
}

// newObjectBlocks returns the blocks of an object, one of several that are read at the same time.
func newObjectBlocks(from *objectReader, files int) *objectBlocks {
	b := &objectBlocks{from: from, behind: blocksBehind(), most: blocksAhead(files), blocks: map[int64]*objectBlock{}, last: -1}
	b.ctx, b.stop = context.WithCancel(from.ctx)
	return b
}

// close ends requests.
func (b *objectBlocks) close() error {
	b.stop()
	b.reading.Wait()
	return nil
}

// ReadAt implements [io.ReaderAt].
func (b *objectBlocks) ReadAt(p []byte, offset int64) (n int, err error) {
	for n < len(p) {
		at := offset + int64(n)
		if at >= b.from.about.Size {
			return n, io.EOF
		}
		bytes, err := b.block(at / objectBlockBytes)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], bytes[at%objectBlockBytes:])
	}
	return n, nil
}

// block returns the bytes of a block.
func (b *objectBlocks) block(number int64) ([]byte, error) {
	b.mu.Lock()
	read := b.request(number)
	if number > b.last && number <= b.last+b.ahead+b.behind {
		b.last, b.ahead = number, min(max(1, 2*b.ahead), b.most)
		for next := number + 1; next <= number+b.ahead && next*objectBlockBytes < b.from.about.Size; next++ {
			b.request(next)
		}
	} else if number > b.last || number < b.last-b.behind {
		b.last, b.ahead = number, 0 // another place
	}
	for each := range b.blocks {
		if each < b.last-b.behind || each > b.last+b.most {
			delete(b.blocks, each)
		}
	}
	b.mu.Unlock()
	<-read.ended
	return read.bytes, read.err
}

// request returns a block, which it requests from the store unless it was requested. The caller holds the lock.
func (b *objectBlocks) request(number int64) *objectBlock {
	if known := b.blocks[number]; known != nil {
		return known
	}
	read := &objectBlock{ended: make(chan struct{})}
	b.blocks[number] = read
	b.reading.Go(func() {
		defer close(read.ended)
		begin := number * objectBlockBytes
		bytes := make([]byte, min(objectBlockBytes, b.from.about.Size-begin))
		if read.err = readError(b.from.read(b.ctx, bytes, begin)); read.err == nil {
			read.bytes = bytes
		}
	})
	return read
}
