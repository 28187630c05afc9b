package kerneltest

import (
	"crypto/sha256"
	"sync"
)

// image is a parsed text. Devices share it: nothing writes to it after readImage.
type image struct {
	variables []*variable // global variables, which each device places in its memory
	module    *module     // nil without variables: all kernels are compiled
	kernels   map[string]*program
}

// images are the parsed texts of the process: each test opens another device and loads the
// same texts.
var images = imageCache{most: 8 << 20}

// imageCache holds images by the hash of their text. It drops all images before its texts
// exceed most bytes: tests of generated code load thousands of texts once.
type imageCache struct {
	mu    sync.Mutex
	texts map[[sha256.Size]byte]*image
	bytes int
	most  int
}

// read returns the image of a text. Two callers may parse one text at the same time.
func (c *imageCache) read(text string) (*image, error) {
	key := sha256.Sum256([]byte(text))
	c.mu.Lock()
	cached := c.texts[key]
	c.mu.Unlock()
	if cached != nil {
		return cached, nil
	}
	parsed, err := readImage(text)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.texts == nil || c.bytes+len(text) > c.most {
		c.texts, c.bytes = map[[sha256.Size]byte]*image{}, 0
	}
	if c.texts[key] == nil {
		c.texts[key] = parsed
		c.bytes += len(text)
	}
	return parsed, nil
}

// readImage parses a text and compiles its kernels, unless they depend on where a device
// places the variables.
func readImage(text string) (*image, error) {
	m, err := parse(text)
	if err != nil {
		return nil, err
	}
	parsed := &image{}
	for _, v := range m.variables {
		if v.space != "shared" && !v.extern {
			if v.array && v.count == 0 {
				v.count = len(v.init)
			}
			parsed.variables = append(parsed.variables, v)
		}
	}
	if len(parsed.variables) > 0 {
		parsed.module = m
		return parsed, nil
	}
	parsed.kernels, err = compileKernels(m, nil)
	return parsed, err
}

// compileKernels compiles every kernel, so that unknown instructions are found before any
// launch. globals holds the addresses of module variables.
func compileKernels(m *module, globals map[string]*symbol) (map[string]*program, error) {
	kernels := map[string]*program{}
	for name, f := range m.functions {
		if !f.entry || !f.hasBody {
			continue
		}
		p, err := compile(m, globals, f)
		if err != nil {
			return nil, err
		}
		kernels[name] = p
	}
	return kernels, nil
}
