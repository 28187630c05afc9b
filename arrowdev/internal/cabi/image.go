package cabi

import "unsafe"

// Image is a schema tree as it will be in C memory, except for its address. It can be
// written any number of times, and recognises the schemas that it wrote. An Image is
// immutable and safe for concurrent use.
type Image struct {
	// words are the root's struct, then the parts of the tree before the texts: the
	// other structs and the tables of children.
	words []uintptr
	// meanings hold the base to add to each of the words.
	meanings []meaning
	// texts are strings and metadata.
	texts []byte
	nodes int
}

// meaning selects the base of a word of an image.
type meaning uint8

const (
	// asItIs is a constant word.
	asItIs meaning = iota
	// inTree is an offset in the tree's memory, which becomes an address.
	inTree
	// ofNode is the number of a node, which becomes its name.
	ofNode
	meanings
)

const (
	wordBytes   = unsafe.Sizeof(uintptr(0))
	schemaWords = int(unsafe.Sizeof(Schema{}) / wordBytes)

	formatWord     = int(unsafe.Offsetof(Schema{}.Format) / wordBytes)
	nameWord       = int(unsafe.Offsetof(Schema{}.Name) / wordBytes)
	metadataWord   = int(unsafe.Offsetof(Schema{}.Metadata) / wordBytes)
	childrenWord   = int(unsafe.Offsetof(Schema{}.Children) / wordBytes)
	dictionaryWord = int(unsafe.Offsetof(Schema{}.Dictionary) / wordBytes)
	privateWord    = int(unsafe.Offsetof(Schema{}.Private) / wordBytes)
)

// Description is one schema of an image.
type Description struct {
	Format, Name string
	// Metadata is Arrow's encoding of pairs, or nil.
	Metadata   []byte
	Flags      int64
	Children   []Description
	Dictionary *Description
}

// NewImage makes the image of a schema.
func NewImage(root *Description) *Image {
	fields, tables, texts := root.size()
	i := &Image{words: make([]uintptr, fields*schemaWords+tables), texts: make([]byte, 0, texts)}
	i.meanings = make([]meaning, len(i.words))
	i.fill(0, schemaWords, root)
	for k := range i.words {
		if i.meanings[k] == inTree { // texts and words are addressed from one origin
			i.words[k] -= uintptr(schemaWords) * wordBytes
		}
	}
	return i
}

// size returns the number of schemas, of entries of tables, and of bytes of texts.
func (d *Description) size() (fields, tables, texts int) {
	fields, tables = 1, len(d.Children)
	texts = len(d.Format) + 1 + len(d.Name) + 1 + int(Rounded(uintptr(len(d.Metadata)))) + 8
	for i := range d.Children {
		f, t, x := d.Children[i].size()
		fields, tables, texts = fields+f, tables+t, texts+x
	}
	if d.Dictionary != nil {
		f, t, x := d.Dictionary.size()
		fields, tables, texts = fields+f, tables+t, texts+x
	}
	return fields, tables, texts
}

// fill describes a schema in the words from at on, and its children in those from free
// on. It returns the next free word.
func (i *Image) fill(at, free int, d *Description) int {
	var s Schema
	s.Flags, s.NumChildren, s.Release, s.Private = d.Flags, int64(len(d.Children)), ownSchemaRelease, uintptr(i.nodes)
	copy(i.words[at:], unsafe.Slice((*uintptr)(unsafe.Pointer(&s)), schemaWords))
	i.meanings[at+privateWord] = ofNode
	i.nodes++
	i.point(at+formatWord, i.text(d.Format))
	i.point(at+nameWord, i.text(d.Name))
	if d.Metadata != nil {
		i.point(at+metadataWord, i.blob(d.Metadata))
	}
	if len(d.Children) > 0 {
		table := free
		i.point(at+childrenWord, table*int(wordBytes))
		free += len(d.Children)
		for k := range d.Children {
			child := free
			i.point(table+k, child*int(wordBytes))
			free = i.fill(child, child+schemaWords, &d.Children[k])
		}
	}
	if d.Dictionary != nil {
		i.point(at+dictionaryWord, free*int(wordBytes))
		free = i.fill(free, free+schemaWords, d.Dictionary)
	}
	return free
}

// point makes a word the address of a place.
func (i *Image) point(word, place int) {
	i.words[word], i.meanings[word] = uintptr(place), inTree
}

// text adds a string and returns its place.
func (i *Image) text(s string) int {
	place := len(i.words)*int(wordBytes) + len(i.texts)
	i.texts = append(append(i.texts, s...), 0)
	return place
}

// blob adds metadata, which consumers may expect to be aligned.
func (i *Image) blob(b []byte) int {
	for len(i.texts)%8 != 0 {
		i.texts = append(i.texts, 0)
	}
	place := len(i.words)*int(wordBytes) + len(i.texts)
	i.texts = append(i.texts, b...)
	return place
}

// Bytes returns the approximate size of the image itself.
func (i *Image) Bytes() int { return len(i.words)*(int(wordBytes)+1) + cap(i.texts) }

// memory returns the size of a tree of the image.
func (i *Image) memory() uintptr {
	return uintptr(len(i.words)-schemaWords)*wordBytes + uintptr(len(i.texts))
}

// Write writes the schema to a new tree, and the root to out. The mark, unless it is
// zero, is returned by [Schema.Origin] later; its highest bit must be clear. Write
// returns false if C has no memory; out is then unchanged.
func (i *Image) Write(out *Schema, mark uint64) bool {
	if mark != 0 {
		mark |= markBit
	}
	name, start := beginTree(i.memory(), i.nodes, mark)
	if name == 0 {
		return false
	}
	add := [meanings + 1]uintptr{asItIs: 0, inTree: uintptr(start), ofNode: uintptr(name)}
	i.put(wordsOf(out), 0, &add)
	below := unsafe.Slice((*uintptr)(start), len(i.words)-schemaWords)
	i.put(below, schemaWords, &add)
	copy(unsafe.Slice((*byte)(unsafe.Add(start, uintptr(len(below))*wordBytes)), len(i.texts)), i.texts)
	return true
}

// put writes the words from one on.
func (i *Image) put(to []uintptr, from int, add *[meanings + 1]uintptr) {
	words, means := i.words[from:], i.meanings[from:]
	for k := range to {
		to[k] = words[k] + add[means[k]&3]
	}
}

// WroteTo reports whether Write wrote the schema, with a root that may have moved, and
// whether it and its children are unchanged. The origin is the schema's.
func (i *Image) WroteTo(s *Schema, origin Origin) bool {
	start := origin.memory
	if start == nil || uint64(s.Private)&(1<<nodeBits-1) != 0 {
		return false
	}
	add := [meanings + 1]uintptr{asItIs: 0, inTree: uintptr(start), ofNode: s.Private}
	below := unsafe.Slice((*uintptr)(start), len(i.words)-schemaWords)
	if !i.same(wordsOf(s), 0, &add) || !i.same(below, schemaWords, &add) {
		return false
	}
	texts := unsafe.Slice((*byte)(unsafe.Add(start, uintptr(len(below))*wordBytes)), len(i.texts))
	return string(texts) == string(i.texts)
}

func (i *Image) same(read []uintptr, from int, add *[meanings + 1]uintptr) bool {
	words, means := i.words[from:], i.meanings[from:]
	differ := uintptr(0)
	for k := range read {
		differ |= read[k] ^ (words[k] + add[means[k]&3])
	}
	return differ == 0
}

func wordsOf(s *Schema) []uintptr { return unsafe.Slice((*uintptr)(unsafe.Pointer(s)), schemaWords) }

// Origin describes the source of a schema.
type Origin struct {
	// Own is true if this process's gpuframe wrote the schema, Ended if its memory is
	// freed.
	Own, Ended bool
	// Mark is the mark of Write, or zero.
	Mark   uint64
	memory unsafe.Pointer
}

// markBit means for C that a tree's owner is a mark.
const markBit = 1 << 63

// Origin returns the origin of a schema that is not released.
func (s *Schema) Origin() (o Origin) {
	if o.Own = s.Release != 0 && s.Release == ownSchemaRelease; !o.Own {
		return o
	}
	var owner uint64
	o.memory, owner = treeMemory(uint64(s.Private))
	if o.Ended = o.memory == nil; owner&markBit != 0 {
		o.Mark = owner &^ markBit
	}
	return o
}
