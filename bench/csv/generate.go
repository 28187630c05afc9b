package main

import (
	"bufio"
	"errors"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

var names = []string{"order", "quantity", "price", "discount", "day", "at", "city", "comment"}

// header returns the first line of CSV.
func header() string { return strings.Join(names, ",") + "\n" }

// hasObjects reports whether a file has JSON lines.
func hasObjects(name string) bool { return strings.HasSuffix(name, ".jsonl") }

// blockRows is the number of rows that a goroutine writes at a time.
const blockRows = 50_000

// generate writes a file of a length, or a little more. Its rows depend on the seed alone.
func generate(name string, length int64, seed uint64) (err error) {
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	to := bufio.NewWriterSize(file, 1<<20)
	objects, written := hasObjects(name), int64(0)
	if !objects {
		n, err := to.WriteString(header())
		if err != nil {
			return err
		}
		written = int64(n)
	}
	blocks := make(chan chan []byte, runtime.GOMAXPROCS(0))
	done := make(chan struct{})
	defer close(done)
	go func() {
		for number := uint64(0); ; number++ {
			block := make(chan []byte, 1)
			select {
			case blocks <- block:
				go func() { block <- rows(seed, number, objects) }()
			case <-done:
				return
			}
		}
	}()
	for written < length {
		block := <-<-blocks
		if _, err := to.Write(block); err != nil {
			return err
		}
		written += int64(len(block))
	}
	return to.Flush()
}

var (
	cities = []string{"Oslo", "New York", "São Paulo", "Bengaluru", "Lagos", "Kyoto", "Reykjavík", "Valparaíso"}
	words  = []string{"carefully", "final", "deposits", "sleep", "quickly", "above", "the", "ironic", "requests", "haggle", "blithely", "express"}
)

// rows returns a block of rows: of CSV, or objects.
func rows(seed, number uint64, objects bool) []byte {
	random := rand.New(rand.NewPCG(seed, number))
	text := make([]byte, 0, blockRows*200)
	first := time.Date(1992, 1, 1, 0, 0, 0, 0, time.UTC)
	begin := func(place int) {
		switch {
		case objects && place == 0:
			text = append(text, '{')
		case place > 0:
			text = append(text, ',')
		}
		if objects {
			text = append(text, '"')
			text = append(text, names[place]...)
			text = append(text, '"', ':')
		}
	}
	quote := func() {
		if objects {
			text = append(text, '"')
		}
	}
	for row := range uint64(blockRows) {
		begin(0)
		text = strconv.AppendUint(text, number*blockRows+row+1, 10)
		begin(1)
		text = strconv.AppendUint(text, 1+random.Uint64N(50), 10)
		begin(2)
		text = strconv.AppendFloat(text, float64(90_000+random.Uint64N(10_000_000))/100, 'f', 2, 64)
		begin(3)
		text = strconv.AppendFloat(text, random.Float64(), 'g', -1, 64)
		at := first.Add(time.Duration(random.Int64N(7*365*86_400)) * time.Second)
		begin(4)
		quote()
		text = at.AppendFormat(text, time.DateOnly)
		quote()
		begin(5)
		quote()
		text = at.AppendFormat(text, time.DateTime)
		quote()
		begin(6)
		quote()
		text = append(text, cities[random.IntN(len(cities))]...)
		quote()
		begin(7)
		text = appendComment(text, random, objects)
		if objects {
			text = append(text, '}')
		}
		text = append(text, '\n')
	}
	return text
}

// appendComment appends words. One comment in eight has a comma or a quote, and so has quotes around it in CSV; one in
// twenty is null.
func appendComment(text []byte, random *rand.Rand, object bool) []byte {
	kind := random.IntN(40)
	if kind < 2 {
		if object {
			text = append(text, "null"...)
		}
		return text
	}
	edge, quote := "", `""`
	if kind < 7 || object {
		edge = `"`
	}
	if object {
		quote = `\"`
	}
	text = append(text, edge...)
	for i := range 1 + random.IntN(6) {
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, words[random.IntN(len(words))]...)
	}
	switch {
	case kind < 6:
		text = append(text, ", twice"...)
	case kind < 7:
		text = append(text, " "+quote+"so"+quote+" "...)
	}
	return append(text, edge...)
}
