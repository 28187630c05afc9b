package decompress

import (
	"encoding/binary"
	"fmt"
)

// zstdModes counts the kinds of blocks, literals and tables of valid frames.
func zstdModes(data []byte) map[string]int {
	modes := make(map[string]int)
	for len(data) > 0 {
		magic := binary.LittleEndian.Uint32(data)
		if magic>>4 == 0x184d2a5 {
			modes["frame skippable"]++
			data = data[8+binary.LittleEndian.Uint32(data[4:]):]
			continue
		}
		data = blockModes(modes, data[4:])
	}
	return modes
}

// blockModes counts the modes of a frame and returns what is after it.
func blockModes(modes map[string]int, data []byte) []byte {
	descriptor := data[0]
	single := descriptor >> 5 & 1
	size := 1 << (descriptor >> 6)
	if size == 1 {
		size = int(single)
	}
	modes[fmt.Sprintf("frame length in %d bytes", size)]++
	data = data[1+int(1-single)+[]int{0, 1, 2, 4}[descriptor&3]+size:]
	for last := false; !last; {
		header := uint32(data[0]) | uint32(data[1])<<8 | uint32(data[2])<<16
		last = header&1 != 0
		kind, length := header>>1&3, int(header>>3)
		modes["block "+[]string{"raw", "repeated", "compressed"}[kind]]++
		if kind == 1 {
			length = 1
		}
		if kind == 2 {
			sectionModes(modes, data[3:3+length])
		}
		data = data[3+length:]
	}
	return data[descriptor&4:]
}

// sectionModes counts the modes of a compressed block.
func sectionModes(modes map[string]int, block []byte) {
	kind, format := block[0]&3, block[0]>>2&3
	word := binary.LittleEndian.Uint64(append(block[:min(8, len(block)):min(8, len(block))], make([]byte, 8)...))
	name := "literals " + []string{"raw", "repeated", "compressed", "treeless"}[kind]
	var section int
	if kind < 2 {
		size := []int{1, 2, 1, 3}[format]
		section = size + 1
		if kind == 0 {
			section = size + int(word&(1<<(8*size)-1)>>[]int{3, 4, 3, 4}[format])
		}
		modes[fmt.Sprintf("%s, header of %d", name, size)]++
	} else {
		bits := []int{10, 10, 14, 18}[format]
		size := []int{3, 3, 4, 5}[format]
		section = size + int(word>>(4+bits)&(1<<bits-1))
		if kind == 2 {
			modes[fmt.Sprintf("weights coded: %t", block[size] < 128)]++
		}
		modes[fmt.Sprintf("%s, %d streams, header of %d", name, min(4, 1+3*format), size)]++
	}
	tableModes(modes, block[section:])
}

// tableModes counts the modes of the tables of sequences.
func tableModes(modes map[string]int, section []byte) {
	size := 1
	switch first := section[0]; {
	case first == 0:
		modes["no sequences"]++
		return
	case first == 255:
		size = 3
	case first >= 128:
		size = 2
	}
	modes[fmt.Sprintf("number of sequences in %d bytes", size)]++
	for i, kind := range []string{"literal lengths", "offsets", "match lengths"} {
		modes[kind+" "+[]string{"predefined", "repeated", "counted", "as before"}[section[size]>>(6-2*i)&3]]++
	}
}
