package chunks

// place is an address that is not known yet: a space of memory and an offset in it. The zero place is no address.
type place uint64

const spaceShift = 56

// space is memory that grows while pages are planned.
type space struct {
	number uint64 // from 1 on
	bytes  uint64
	base   uint64
}

// take takes memory, aligned to 256 bytes.
func (s *space) take(bytes uint64) place {
	const alignment = 256
	s.bytes = (s.bytes + alignment - 1) &^ (alignment - 1)
	return s.append(bytes)
}

// append takes the next bytes.
func (s *space) append(bytes uint64) place {
	at := s.bytes
	s.bytes += bytes
	return place(s.number<<spaceShift | at)
}

// spaces are those of a batch.
type spaces struct {
	// input has the bytes of chunks, plain those of pages behind their compression, lists the descriptions of pages, work
	// the results of kernels for others. bits has the bitmaps of columns, which begin with zeros, and values their values.
	input, plain, lists, work, bits, values space
}

func newSpaces() spaces {
	return spaces{input: space{number: 1}, lists: space{number: 2}, work: space{number: 3}, bits: space{number: 4}, values: space{number: 5}, plain: space{number: 6}}
}

func (s *spaces) all() []*space {
	return []*space{&s.input, &s.plain, &s.lists, &s.work, &s.bits, &s.values}
}

// offset is the offset in the place's space.
func (p place) offset() uint64 { return uint64(p) & (1<<spaceShift - 1) }

// resolve replaces places by addresses.
func (s *spaces) resolve(places ...*place) {
	for _, p := range places {
		for _, each := range s.all() {
			if uint64(*p)>>spaceShift == each.number {
				*p = place(each.base + p.offset())
				break
			}
		}
	}
}
