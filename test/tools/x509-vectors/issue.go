package main

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"os"
	"time"

	_ "crypto/md5"
	_ "crypto/sha1"
	_ "crypto/sha256"
	_ "crypto/sha512"
)

// What Go's own x509.CreateCertificate would not write.

type oid = asn1.ObjectIdentifier

var (
	sha256RSA   = oid{1, 2, 840, 113549, 1, 1, 11}
	sha384RSA   = oid{1, 2, 840, 113549, 1, 1, 12}
	sha512RSA   = oid{1, 2, 840, 113549, 1, 1, 13}
	sha224RSA   = oid{1, 2, 840, 113549, 1, 1, 14}
	sha1RSA     = oid{1, 2, 840, 113549, 1, 1, 5}
	md5RSA      = oid{1, 2, 840, 113549, 1, 1, 4}
	pssRSA      = oid{1, 2, 840, 113549, 1, 1, 10}
	mgf1        = oid{1, 2, 840, 113549, 1, 1, 8}
	sha1ECDSA   = oid{1, 2, 840, 10045, 4, 1}
	sha256ECDSA = oid{1, 2, 840, 10045, 4, 3, 2}
	sha384ECDSA = oid{1, 2, 840, 10045, 4, 3, 3}
	sha512ECDSA = oid{1, 2, 840, 10045, 4, 3, 4}
	plainED     = oid{1, 3, 101, 112}

	sha1ID   = oid{1, 3, 14, 3, 2, 26}
	sha256ID = oid{2, 16, 840, 1, 101, 3, 4, 2, 1}
	sha384ID = oid{2, 16, 840, 1, 101, 3, 4, 2, 2}
	sha512ID = oid{2, 16, 840, 1, 101, 3, 4, 2, 3}

	keyUsage, altNames, basic, nameConstraints = oid{2, 5, 29, 15}, oid{2, 5, 29, 17}, oid{2, 5, 29, 19}, oid{2, 5, 29, 30}
	policies, policyMappings, authorityKey     = oid{2, 5, 29, 32}, oid{2, 5, 29, 33}, oid{2, 5, 29, 35}
	policyConstraints, extUsage, inhibitAny    = oid{2, 5, 29, 36}, oid{2, 5, 29, 37}, oid{2, 5, 29, 54}
	subjectKey, crlPoints                      = oid{2, 5, 29, 14}, oid{2, 5, 29, 31}
	clientAuth, serverAuth, anyUsage           = oid{1, 3, 6, 1, 5, 5, 7, 3, 2}, oid{1, 3, 6, 1, 5, 5, 7, 3, 1}, oid{2, 5, 29, 37, 0}
)

// signature is how a certificate is signed.
type signature struct {
	ai   pkix.AlgorithmIdentifier
	hash crypto.Hash
	pss  int // salt length; -1 is none
}

func with(id oid, hash crypto.Hash) signature {
	s := signature{ai: pkix.AlgorithmIdentifier{Algorithm: id}, hash: hash, pss: -1}
	if id[0] == 1 && id[1] == 2 && id[3] == 113549 {
		s.ai.Parameters = asn1.NullRawValue
	}
	return s
}

type pssParameters struct {
	Hash    pkix.AlgorithmIdentifier `asn1:"explicit,tag:0"`
	MGF     pkix.AlgorithmIdentifier `asn1:"explicit,tag:1"`
	Salt    int                      `asn1:"explicit,tag:2"`
	Trailer int                      `asn1:"optional,explicit,tag:3,default:1"`
}

func pss(hash crypto.Hash, id, mask oid, salt, trailer int) signature {
	parameters := pssParameters{
		Hash: pkix.AlgorithmIdentifier{Algorithm: id, Parameters: asn1.NullRawValue},
		MGF:  pkix.AlgorithmIdentifier{Algorithm: mgf1, Parameters: asn1.RawValue{FullBytes: der(pkix.AlgorithmIdentifier{Algorithm: mask, Parameters: asn1.NullRawValue})}},
		Salt: salt, Trailer: trailer,
	}
	return signature{ai: pkix.AlgorithmIdentifier{Algorithm: pssRSA, Parameters: asn1.RawValue{FullBytes: der(parameters)}}, hash: hash, pss: salt}
}

type extension struct {
	ID       oid
	Critical bool `asn1:"optional"`
	Value    []byte
}

type tbs struct {
	Version    int `asn1:"optional,explicit,default:0,tag:0"`
	Serial     asn1.RawValue
	Algorithm  pkix.AlgorithmIdentifier
	Issuer     asn1.RawValue
	Validity   asn1.RawValue
	Subject    asn1.RawValue
	Key        asn1.RawValue
	Extensions []asn1.RawValue `asn1:"optional,explicit,tag:3,omitempty"`
}

type signed struct {
	TBS       asn1.RawValue
	Algorithm pkix.AlgorithmIdentifier
	Signature asn1.BitString
}

// wanted is what a certificate is to be; issue fills in what is left out.
type wanted struct {
	version    int // 1, 2, 3
	serial     []byte
	subject    any // a name, or its DER
	key        crypto.Signer
	spki       []byte
	notBefore  time.Time
	notAfter   time.Time
	validity   []byte
	extensions []asn1.RawValue
	signature  *signature
	outer      *pkix.AlgorithmIdentifier
	ca         bool // basicConstraints CA and keyCertSign, as is usual
	usages     []oid
	spoilt     bool // the signature does not fit
	cut        func([]byte) []byte
}

type certificate struct {
	der     []byte
	subject []byte
	key     crypto.Signer
}

var now = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

func issue(w wanted, issuer *certificate) *certificate {
	c := &certificate{key: w.key}
	if c.key == nil {
		c.key = ecKey(elliptic.P256())
	}
	if w.version == 0 {
		w.version = 3
	}
	if w.serial == nil {
		w.serial = []byte{5}
	}
	switch s := w.subject.(type) {
	case string:
		c.subject = name(s)
	case []byte:
		c.subject = s
	}
	if issuer == nil {
		issuer = c
	}
	if w.spki == nil {
		var err error
		w.spki, err = x509.MarshalPKIXPublicKey(c.key.Public())
		must(err)
	}
	if w.validity == nil {
		if w.notBefore.IsZero() {
			w.notBefore = now.Add(-time.Hour * 24 * 365)
		}
		if w.notAfter.IsZero() {
			w.notAfter = now.Add(time.Hour * 24 * 365)
		}
		w.validity = der(struct{ From, To time.Time }{w.notBefore, w.notAfter})
	}
	if w.ca {
		w.extensions = append([]asn1.RawValue{caTrue, certSign}, w.extensions...)
	}
	if len(w.usages) > 0 {
		w.extensions = append(w.extensions, ext(extUsage, false, der(w.usages)))
	}
	sign := w.signature
	if sign == nil {
		var usual signature
		switch k := issuer.key.(type) {
		case *rsa.PrivateKey:
			usual = with(sha256RSA, crypto.SHA256)
		case ed25519.PrivateKey:
			usual = with(plainED, 0)
		case *ecdsa.PrivateKey:
			_ = k
			usual = with(sha256ECDSA, crypto.SHA256)
		}
		sign = &usual
	}
	body := der(tbs{
		Version: w.version - 1, Serial: raw(2, w.serial), Algorithm: sign.ai, Issuer: full(issuer.subject), Validity: full(w.validity),
		Subject: full(c.subject), Key: full(w.spki), Extensions: w.extensions,
	})
	digest, options := body, crypto.SignerOpts(sign.hash)
	if sign.hash != 0 {
		h := sign.hash.New()
		h.Write(body)
		digest = h.Sum(nil)
	}
	if sign.pss >= 0 {
		options = &rsa.PSSOptions{SaltLength: sign.pss, Hash: sign.hash}
	}
	bits, err := weak(func() ([]byte, error) { return issuer.key.Sign(rand.Reader, digest, options) })
	must(err)
	if w.spoilt {
		bits[len(bits)-1] ^= 1
	}
	outer := sign.ai
	if w.outer != nil {
		outer = *w.outer
	}
	c.der = der(signed{full(body), outer, asn1.BitString{Bytes: bits, BitLength: 8 * len(bits)}})
	if w.cut != nil {
		c.der = w.cut(c.der)
	}
	return c
}

func name(common string) []byte {
	return der(pkix.Name{CommonName: common}.ToRDNSequence())
}

func ext(id oid, critical bool, value []byte) asn1.RawValue {
	return full(der(extension{id, critical, value}))
}

var (
	caTrue   = ext(basic, true, der(struct{ CA bool }{true}))
	certSign = ext(keyUsage, true, der(asn1.BitString{Bytes: []byte{0x04}, BitLength: 6}))
)

func raw(tag int, content []byte) asn1.RawValue {
	return full(append([]byte{byte(tag), byte(len(content))}, content...))
}

// element of any length.
func element(tag byte, contents ...[]byte) []byte {
	var all []byte
	for _, c := range contents {
		all = append(all, c...)
	}
	out := []byte{tag}
	switch n := len(all); {
	case n < 0x80:
		out = append(out, byte(n))
	case n < 0x100:
		out = append(out, 0x81, byte(n))
	default:
		out = append(out, 0x82, byte(n>>8), byte(n))
	}
	return append(out, all...)
}

func full(bytes []byte) asn1.RawValue { return asn1.RawValue{FullBytes: bytes} }

func der(value any) []byte {
	out, err := asn1.Marshal(value)
	must(err)
	return out
}

func ecKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	must(err)
	return key
}

func edKey() ed25519.PrivateKey {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	must(err)
	return key
}

var rsaKeys = map[int]*rsa.PrivateKey{}

// rsaKey: one of each size.
func rsaKey(bits int) *rsa.PrivateKey {
	if rsaKeys[bits] == nil {
		key, err := weak(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, bits) })
		must(err)
		rsaKeys[bits] = key
	}
	return rsaKeys[bits]
}

// weak lets Go make what it would not trust.
func weak[T any](do func() (T, error)) (T, error) {
	os.Setenv("GODEBUG", "rsa1024min=0")
	defer os.Setenv("GODEBUG", "")
	return do()
}

// rsaSPKI is a key of that modulus and exponent.
func rsaSPKI(modulus *big.Int, exponent int, parameters asn1.RawValue) []byte {
	key := der(struct {
		N *big.Int
		E int
	}{modulus, exponent})
	return der(struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}{pkix.AlgorithmIdentifier{Algorithm: oid{1, 2, 840, 113549, 1, 1, 1}, Parameters: parameters}, asn1.BitString{Bytes: key, BitLength: 8 * len(key)}})
}
