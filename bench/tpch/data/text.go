package data

import (
	"runtime"
	"strings"
	"sync"
)

// pool is text of the grammar. Comments are parts of it, as the specification has it.
type pool string

// poolChunk is the length of text that one goroutine writes.
const poolChunk = 1 << 20

// newPool writes n chunks of text.
func newPool(seed uint64, n int) pool {
	chunks := make([]string, n)
	var wait sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for i := range chunks {
		slots <- struct{}{}
		wait.Go(func() {
			defer func() { <-slots }()
			w := writer{random: randomOf(seed, streamText, int64(i))}
			for w.text.Len() < poolChunk {
				w.sentence()
			}
			chunks[i] = w.text.String()
		})
	}
	wait.Wait()
	return pool(strings.Join(chunks, ""))
}

// part returns a random part of the pool with a length in [low, high].
func (p pool) part(r *random, low, high int64) string {
	length := r.between(low, high)
	from := r.below(int64(len(p)) - length + 1)
	return string(p[from : from+length])
}

// writer writes sentences.
type writer struct {
	random
	text strings.Builder
}

func (w *writer) sentence() {
	for i, phrase := range sentences.pick(&w.random) {
		if i > 0 {
			w.text.WriteByte(' ')
		}
		switch phrase {
		case 'n':
			w.phrase(nounPhrases.pick(&w.random))
		case 'v':
			w.phrase(verbPhrases.pick(&w.random))
		case 'p':
			w.text.WriteString(prepositions.pick(&w.random))
			w.text.WriteString(" the ")
			w.phrase(nounPhrases.pick(&w.random))
		}
	}
	w.text.WriteString(terminators.pick(&w.random))
	w.text.WriteByte(' ')
}

// phrase writes a form with words for its letters.
func (w *writer) phrase(form string) {
	for _, letter := range []byte(form) {
		switch letter {
		case 'N':
			w.text.WriteString(nouns.pick(&w.random))
		case 'J':
			w.text.WriteString(adjectives.pick(&w.random))
		case 'D':
			w.text.WriteString(adverbs.pick(&w.random))
		case 'V':
			w.text.WriteString(verbs.pick(&w.random))
		case 'X':
			w.text.WriteString(auxiliaries.pick(&w.random))
		default:
			w.text.WriteByte(letter)
		}
	}
}
