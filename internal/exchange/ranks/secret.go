package ranks

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
)

// secret is known to the ranks of a group only. It is not sent: messages have a
// proof, their keyed hash.
type secret string

// prove adds a proof to a message of a rank that joins.
func (s secret) prove(h hello) hello {
	if s == "" {
		return h
	}
	h.Nonce, h.Proof = newSession(), ""
	h.Proof = s.hash("hello", h)
	return h
}

// proved reports whether the sender of a message knows the secret.
func (s secret) proved(h hello) bool {
	proof := h.Proof
	h.Proof = ""
	return s == "" || hmac.Equal([]byte(proof), []byte(s.hash("hello", h)))
}

// answer adds a proof to the answer to a message. It contains the nonce of that message, so it
// answers no other one.
func (s secret) answer(w welcome, nonce string) welcome {
	if s == "" {
		return w
	}
	w.Nonce, w.Proof = nonce, ""
	w.Proof = s.hash("welcome", w)
	return w
}

// answered reports whether the sender of an answer to a message knows the secret.
func (s secret) answered(w welcome, h hello) bool {
	proof := w.Proof
	w.Proof = ""
	return s == "" || w.Nonce == h.Nonce && hmac.Equal([]byte(proof), []byte(s.hash("welcome", w)))
}

// hash is the keyed hash of a message of this package, which can always be encoded.
func (s secret) hash(kind string, message any) string {
	body, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	keyed := hmac.New(sha256.New, []byte(s))
	_, _ = keyed.Write(append([]byte(kind+"\n"), body...)) // it never fails
	return hex.EncodeToString(keyed.Sum(nil))
}

func newSession() string {
	bytes := make([]byte, 16)
	_, _ = rand.Read(bytes) // it never fails
	return hex.EncodeToString(bytes)
}
