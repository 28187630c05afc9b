package plan

import (
	"fmt"

	"github.com/dustin/go-humanize"
)

// Cache yields the rows of its input, and keeps them for other runs, of this plan and of
// others with the same store. No pass moves anything across it, so its rows and their order
// are the same in all plans.
type Cache struct {
	single
	store Store
}

// Store keeps the rows of a [Cache]. Its type is comparable.
type Store interface {
	// Kept is what the store keeps. filled reports whether it keeps something now.
	Kept() (rows int64, bytes uint64, filled bool)
}

// NewCache makes a node that keeps the rows of its input in a store.
func NewCache(input Node, store Store) *Cache {
	return &Cache{singleOf(input, input.Schema()), store}
}

// Store returns the store.
func (c *Cache) Store() Store { return c.store }

// IsFilled reports whether the store keeps the rows, so that what is below does not run.
func (c *Cache) IsFilled() bool {
	_, _, filled := c.store.Kept()
	return filled
}

// WithInputs implements [Node]. The columns stay those of c, so that one plan
// reads the rows that another one keeps.
func (c *Cache) WithInputs(inputs ...Node) (Node, error) {
	input, err := exactly(inputs[0], columnsOf(c.schema))
	if err != nil {
		return nil, err
	}
	return NewCache(input, c.store), nil
}

// String names what the store keeps.
func (c *Cache) String() string {
	rows, bytes, filled := c.store.Kept()
	if !filled {
		return "cache, empty"
	}
	return fmt.Sprintf("cache, %s rows in %s", humanize.Comma(rows), humanize.IBytes(bytes))
}

func (c *Cache) holdsRows() bool { return false }

func (c *Cache) estimate(_ *Analysis, first Size) Size {
	if rows, _, filled := c.store.Kept(); filled {
		return Size{Rows: rows, Exact: true}
	}
	return first
}

func (c *Cache) sortedBy(keys []SortKey) (bool, []SortKey) { return false, keys }

func (c *Cache) same(other Node) bool {
	o, ok := other.(*Cache)
	return ok && c.store == o.store
}

func (c *Cache) sharesMemory() bool { return true }
