package objectstore

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe/internal/io/rangecache"
)

// CacheVariable and CacheSizeVariable name the environment variables of the cache of a process: its folder, and the most bytes
// of its files, such as 20GB. Without a size it is [UsualCacheBytes]. [SetCache] takes precedence.
const (
	CacheVariable     = "GPUFRAME_OBJECT_CACHE"
	CacheSizeVariable = "GPUFRAME_OBJECT_CACHE_SIZE"
)

// UsualCacheBytes is the size of a cache for which none is given.
const UsualCacheBytes = 10 << 30

// Cache keeps ranges of objects in a folder of the local disk. Objects are known by their URLs, without credentials, and their
// ETags: those without one, or with a weak one, are not kept. Several processes may use a folder at the same time. Ranges that
// were used least recently are removed. A damaged file is found by its checksum, and read again from the store. After an
// error of the disk the cache is not used any more: the log and the profile of the query show it, and no query fails.
//
// A Cache is safe for concurrent use. It needs no end. The folder is created for its owner only, and has the contents of objects
// after queries end: a reader of the folder needs no credentials for them.
type Cache struct{ ranges *rangecache.Cache }

// NewCache returns the cache of a folder, with a limit of the bytes of its files. Zero means [UsualCacheBytes].
func NewCache(directory string, bytes uint64) (*Cache, error) {
	if directory == "" {
		return nil, fmt.Errorf("objectstore: cache: the folder is empty, expected its path")
	}
	path, err := filepath.Abs(directory)
	if err != nil {
		return nil, fmt.Errorf("objectstore: cache: %w", err)
	}
	if bytes == 0 {
		bytes = UsualCacheBytes
	}
	return &Cache{rangecache.New(path, int64(min(bytes, 1<<60)))}, nil
}

// Located is a store with an endpoint, by which a cache distinguishes objects of equal URLs.
type Located interface {
	// Location returns the endpoint, without credentials.
	Location() string
}

// WithCache returns a store with a cache, which repeats requests: see [EnsureRetry]. If other stores of the cache have the same URLs
// for other objects, it must be [Located].
func WithCache(store Store, cache *Cache) Store {
	cached := *EnsureRetry(store).(*retrying)
	cached.cache = cache
	return &cached
}

// shared is the cache of the process.
var shared struct {
	sync.Mutex
	// set reports whether SetCache was called; else the cache is that of the environment.
	set             bool
	directory, size string
	cache           *Cache
	err             error
}

// SetCache sets the cache of the process: of the stores that URLs name, and of others that are [Located]. Nil means none.
func SetCache(cache *Cache) {
	shared.Lock()
	defer shared.Unlock()
	shared.set, shared.cache, shared.err = true, cache, nil
}

// sharedCache returns the cache of the process, or nil.
func sharedCache() (*Cache, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.set {
		return shared.cache, nil
	}
	directory, size := os.Getenv(CacheVariable), os.Getenv(CacheSizeVariable)
	if directory != shared.directory || size != shared.size {
		shared.directory, shared.size = directory, size
		shared.cache, shared.err = cacheOf(directory, size)
	}
	return shared.cache, shared.err
}

func cacheOf(directory, size string) (*Cache, error) {
	if directory == "" {
		return nil, nil
	}
	bytes := uint64(UsualCacheBytes)
	if size != "" {
		var err error
		if bytes, err = humanize.ParseBytes(size); err != nil || bytes == 0 {
			return nil, fmt.Errorf("the environment variable %s is %q, expected a size such as 20GB", CacheSizeVariable, size)
		}
	}
	return NewCache(directory, bytes)
}

// cacheFor returns the cache for an object, or nil.
func (r *retrying) cacheFor(object Object) *Cache {
	if object.ETag == "" || strings.HasPrefix(object.ETag, "W/") {
		return nil
	}
	if r.cache != nil || !r.registered && r.location() == "" {
		return r.cache
	}
	cache, _ := sharedCache()
	return cache
}

func (r *retrying) location() string {
	if located, ok := r.store.(Located); ok {
		return located.Location()
	}
	return ""
}

// readCached reads a range by a cache.
func (r *retrying) readCached(ctx context.Context, cache *Cache, object Object, into []byte, offset int64) error {
	key := rangecache.Key{Store: r.location(), URL: cacheName(object.Name), ETag: object.ETag, Size: object.Size}
	result, err := cache.ranges.Read(key, into, offset, func(into []byte, offset int64) error {
		return r.readRange(ctx, object, into, offset)
	})
	if tally := tallyOf(ctx); tally != nil {
		if !result.Fetched {
			tally.CachedReads.Add(1)
		}
		tally.CachedBytes.Add(result.Bytes)
		if result.Failure != nil {
			tally.cacheFailure.Store(&result.Failure)
		}
	}
	return err
}

// signing is a way to sign URLs, by which two URLs of one object differ.
type signing struct {
	// marks are parameters that all signed URLs have, in small letters.
	marks []string
	// prefix begins parameters of the signature, others are the further ones.
	prefix string
	others []string
}

// signings are those of Amazon and Google, their older ones, that of CloudFront and that of Azure.
var signings = []signing{
	{marks: []string{"x-amz-signature"}, prefix: "x-amz-"},
	{marks: []string{"x-goog-signature"}, prefix: "x-goog-"},
	{marks: []string{"signature", "awsaccesskeyid"}, prefix: "x-amz-", others: []string{"expires"}},
	{marks: []string{"signature", "googleaccessid"}, prefix: "x-goog-", others: []string{"expires"}},
	{marks: []string{"signature", "key-pair-id"}, others: []string{"expires", "policy"}},
	{marks: []string{"sig", "sv"}, others: []string{"se", "st", "sp", "spr", "sr", "ss", "srt", "sip", "si", "skoid", "sktid", "skt", "ske", "sks", "skv", "sdd", "saoid", "suoid", "scid"}},
}

// drops reports whether a parameter is one of the signature.
func (s signing) drops(name string) bool {
	return s.prefix != "" && strings.HasPrefix(name, s.prefix) || slices.Contains(s.marks, name) || slices.Contains(s.others, name)
}

// cacheName returns a URL without credentials and signatures. Other parameters may name the object, and stay.
func cacheName(name string) string {
	u, err := url.Parse(name)
	if err != nil || !strings.EqualFold(u.Scheme, "http") && !strings.EqualFold(u.Scheme, "https") {
		return Display(name)
	}
	u.User, u.Fragment, u.RawFragment = nil, "", ""
	query, err := url.ParseQuery(u.RawQuery)
	if err != nil { // parameters that are not read may name the object
		return u.String()
	}
	names := map[string]bool{}
	for key := range query {
		names[strings.ToLower(key)] = true
	}
	for _, s := range signings {
		if slices.ContainsFunc(s.marks, func(mark string) bool { return !names[mark] }) {
			continue
		}
		maps.DeleteFunc(query, func(key string, _ []string) bool { return s.drops(strings.ToLower(key)) })
	}
	u.RawQuery = query.Encode()
	return u.String()
}
