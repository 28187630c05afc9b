package data

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"runtime"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
)

// ErrScale is the error of a scale factor that has no tables.
var ErrScale = errors.New("the scale factor must be above 0 and at most 1000")

// Generator makes the tables of a scale factor. Its methods may be called from any
// goroutine.
type Generator struct {
	scale                       float64
	seed                        uint64
	suppliers, parts, customers int64
	text                        pool
}

// poolChunks is the length of the text that comments are part of at scale factor 1 and
// above. The specification has 300 MB at all.
const poolChunks = 64

// New makes a generator.
func New(scale float64, seed uint64) (*Generator, error) {
	if !(scale > 0 && scale <= 1000) {
		return nil, fmt.Errorf("data: scale factor %v: %w", scale, ErrScale)
	}
	g := &Generator{scale: scale, seed: seed, text: newPool(seed, int(math.Ceil(poolChunks*min(scale, 1))))}
	g.suppliers, g.parts, g.customers = g.entities(Supplier), g.entities(Part), g.entities(Customer)
	return g, nil
}

// Scale returns the scale factor.
func (g *Generator) Scale() float64 { return g.scale }

// entities returns the number of entities that the rows of a table are made of.
func (g *Generator) entities(t Table) int64 {
	n := described[t].entities
	if n < 0 {
		return -n
	}
	return max(int64(math.Round(float64(n)*g.scale)), 1)
}

// Rows returns the number of rows of a table. For lineitem it is the expected one.
func (g *Generator) Rows(t Table) int64 { return g.entities(t) * described[t].perEntity }

// random returns the random numbers of an entity.
func (g *Generator) random(t Table, entity int64) random { return randomOf(g.seed, uint64(t), entity) }

// record makes the rows of some entities.
func (g *Generator) record(t Table, from, to int64) arrow.Record {
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, t.Schema())
	defer b.Release()
	b.Reserve(int((to - from) * described[t].perEntity))
	r := rows{builder: b, columns: t.Schema().NumFields()}
	for entity := from; entity < to; entity++ {
		described[t].make(g, entity, &r)
	}
	return b.NewRecord()
}

// Records makes a table as records of about the given number of rows, in the order of the
// keys. Several goroutines make the next records. The caller releases each record.
func (g *Generator) Records(ctx context.Context, t Table, rowsOfRecord int64) iter.Seq2[arrow.Record, error] {
	return func(yield func(arrow.Record, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		// Each record has a channel; these are in order.
		pending := make(chan chan arrow.Record, runtime.GOMAXPROCS(0))
		go g.start(ctx, t, max(rowsOfRecord/described[t].perEntity, 1), pending)
		stopped := false
		for record := range pending {
			r := <-record
			if stopped {
				r.Release()
				continue
			}
			if stopped = !yield(r, nil); stopped {
				cancel()
			}
		}
		if err := context.Cause(ctx); err != nil && !stopped {
			yield(nil, err)
		}
	}
}

// start starts a goroutine for each record, as long as there is room in the channel.
func (g *Generator) start(ctx context.Context, t Table, step int64, pending chan<- chan arrow.Record) {
	defer close(pending)
	end := g.entities(t)
	for from := int64(0); from < end; from += step {
		record := make(chan arrow.Record, 1)
		select {
		case <-ctx.Done():
			return
		case pending <- record:
			go func() { record <- g.record(t, from, min(from+step, end)) }()
		}
	}
}
