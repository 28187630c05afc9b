package lookback

// Fold folds two values; the first precedes the second. None is the identity.
type Fold[T any] interface {
	None() T
	Fold(a, b T) T
}

// Prefix is the fold of all tiles before a tile, on the host: before_tile of
// lookback.cuh, in the same order. The zero Prefix is not ready: use [NewPrefix].
type Prefix[T any, F Fold[T]] struct {
	fold                    F
	tiles, groups           [group]T
	tilesAhead, groupsAhead int
	spans                   T
}

// NewPrefix returns the prefix of the first tile.
func NewPrefix[T any, F Fold[T]](fold F) *Prefix[T, F] {
	return &Prefix[T, F]{fold: fold, spans: fold.None()}
}

// Next adds the fold of the next tile and returns the fold of all tiles before it.
func (p *Prefix[T, F]) Next(sum T) T {
	inThisGroup := WarpFold(p.fold, p.tiles[:p.tilesAhead])
	beforeGroup := p.fold.Fold(p.spans, WarpFold(p.fold, p.groups[:p.groupsAhead]))
	p.tiles[p.tilesAhead] = sum
	p.tilesAhead++
	if p.tilesAhead == group {
		p.endGroup(p.fold.Fold(inThisGroup, sum), beforeGroup)
	}
	return p.fold.Fold(beforeGroup, inThisGroup)
}

func (p *Prefix[T, F]) endGroup(sum, before T) {
	p.tilesAhead = 0
	p.groups[p.groupsAhead] = sum
	p.groupsAhead++
	if p.groupsAhead == group {
		p.groupsAhead = 0
		p.spans = p.fold.Fold(before, sum)
	}
}

// Told is the fold of all tiles before a tile, on the host, in the order of
// prefixes.cuh: groups of 32 tiles in sequence, and within a group as WarpScan does.
// The zero Told is not ready: use [NewTold].
type Told[T any, F Fold[T]] struct {
	fold  F
	tiles [group]T
	ahead int
	// before is the fold of all groups before this one.
	before T
}

// NewTold returns the prefix of the first tile.
func NewTold[T any, F Fold[T]](fold F) *Told[T, F] {
	return &Told[T, F]{fold: fold, before: fold.None()}
}

// Next adds the fold of the next tile and returns the fold of all tiles before it.
func (p *Told[T, F]) Next(sum T) T {
	scanned := p.tiles
	for i := p.ahead; i < group; i++ {
		scanned[i] = p.fold.None()
	}
	scanned[p.ahead] = sum
	WarpScan(p.fold, &scanned)
	prefix := p.fold.Fold(p.before, p.fold.None())
	if p.ahead > 0 {
		prefix = p.fold.Fold(p.before, scanned[p.ahead-1])
	}
	p.tiles[p.ahead] = sum
	if p.ahead++; p.ahead == group {
		p.ahead, p.before = 0, p.fold.Fold(p.before, scanned[group-1])
	}
	return prefix
}

// WarpFold folds at most 32 values as warp_fold of scan.cuh does: neighbours, then
// neighbouring pairs and so on. Absent values count as none.
func WarpFold[T any, F Fold[T]](fold F, values []T) T {
	var lanes [group]T
	for i := copy(lanes[:], values); i < group; i++ {
		lanes[i] = fold.None()
	}
	for width := group / 2; width > 0; width /= 2 {
		for i := range width {
			lanes[i] = fold.Fold(lanes[2*i], lanes[2*i+1])
		}
	}
	return lanes[0]
}

// WarpScan turns 32 values into inclusive prefixes as warp_scan of scan.cuh does: each
// lane adds the value 1 before it, then 2, 4, 8 and 16 before.
func WarpScan[T any, F Fold[T]](fold F, lanes *[group]T) {
	for delta := 1; delta < group; delta *= 2 {
		for i := group - 1; i >= delta; i-- {
			lanes[i] = fold.Fold(lanes[i-delta], lanes[i])
		}
	}
}
