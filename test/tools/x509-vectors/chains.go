package main

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"time"
)

type chain struct {
	name          string
	leaf          *certificate
	intermediates []*certificate
	roots         []*certificate
}

var out []chain

func chains() []chain {
	root := issue(wanted{subject: "root", ca: true}, nil)
	middle := issue(wanted{subject: "middle", ca: true}, root)
	add := func(name string, leaf *certificate, intermediates []*certificate, roots ...*certificate) {
		if len(roots) == 0 {
			roots = []*certificate{root}
		}
		out = append(out, chain{name, leaf, intermediates, roots})
	}
	// A client's certificate from the root.
	client := func(name string, w wanted) {
		if w.subject == nil {
			w.subject = "alice"
		}
		add(name, issue(w, root), nil)
	}
	// A client's certificate from an authority that the root signed.
	below := func(name string, authority wanted, leaf wanted) {
		authority.subject = "sub"
		leaf.subject = "alice"
		sub := issue(authority, root)
		add(name, issue(leaf, sub), []*certificate{sub})
	}
	// A client's certificate from a root of its own.
	under := func(name string, authority wanted, leaf wanted) {
		if authority.subject == nil {
			authority.subject = "own root"
		}
		leaf.subject = "alice"
		own := issue(authority, nil)
		add(name, issue(leaf, own), nil, own)
	}
	one := func(e asn1.RawValue) wanted { return wanted{extensions: []asn1.RawValue{e}} }

	client("plain", wanted{})
	client("client auth", wanted{usages: []oid{clientAuth}})
	client("server auth only", wanted{usages: []oid{serverAuth}})
	client("any usage", wanted{usages: []oid{anyUsage}})
	client("a usage nobody knows", wanted{usages: []oid{{1, 2, 3, 4}}})
	client("usages that are none", one(ext(extUsage, false, der([]oid{}))))
	client("usages that are no list", one(ext(extUsage, false, []byte{5, 0})))
	client("usages with a huge part", one(ext(extUsage, false, element(0x30, element(6, []byte{0x2a, 0x8f, 0xff, 0xff, 0xff, 0xff, 0x7f})))))
	client("a wrong signature", wanted{spoilt: true})
	client("expired", wanted{notAfter: now.Add(-time.Second)})
	client("not yet", wanted{notBefore: now.Add(time.Second)})
	client("expires now", wanted{notAfter: now})
	client("begins now", wanted{notBefore: now})
	client("begins after its end", wanted{notBefore: now.Add(time.Hour), notAfter: now.Add(-time.Hour)})
	client("a time without seconds", wanted{validity: element(0x30, element(0x17, []byte("2501010000Z")), element(0x17, []byte("3001010000Z")))})
	client("a time with a zone", wanted{validity: element(0x30, element(0x17, []byte("250101000000+0000")), element(0x17, []byte("300101000000Z")))})
	client("general times", wanted{validity: element(0x30, element(0x18, []byte("20250101000000Z")), element(0x18, []byte("20300101000000Z")))})
	client("a day that is none", wanted{validity: element(0x30, element(0x17, []byte("250230000000Z")), element(0x17, []byte("300101000000Z")))})
	client("an hour that is none", wanted{validity: element(0x30, element(0x17, []byte("250228250000Z")), element(0x17, []byte("300101000000Z")))})
	client("no end", wanted{validity: element(0x30, element(0x17, []byte("250101000000Z")), element(0x18, []byte("99991231235959Z")))})

	// chains
	leafOfMiddle := issue(wanted{subject: "alice"}, middle)
	third := issue(wanted{subject: "third", ca: true}, middle)
	add("over an intermediate", leafOfMiddle, []*certificate{middle})
	add("over two, in the wrong order", issue(wanted{subject: "alice"}, third), []*certificate{middle, third})
	add("without the intermediate", leafOfMiddle, nil)
	add("a stranger's", issue(wanted{subject: "alice"}, issue(wanted{subject: "root", ca: true}, nil)), nil)
	add("a stranger's, with his root", leafOfMiddle, []*certificate{middle}, issue(wanted{subject: "root", ca: true}, nil))
	add("its own root", root, nil)
	self := issue(wanted{subject: "alice"}, nil)
	add("signed by itself, trusted", self, nil, self)
	add("signed by itself, not trusted", self, []*certificate{self})
	old := issue(wanted{subject: "root", ca: true, key: root.key, notAfter: now.Add(-time.Hour)}, nil)
	add("an expired root with the same key beside", issue(wanted{subject: "alice"}, root), nil, old, root)
	add("an expired root", issue(wanted{subject: "alice"}, old), nil, old)
	loopA, loopB := &certificate{key: ecKey(elliptic.P256()), subject: name("a")}, &certificate{key: ecKey(elliptic.P256()), subject: name("b")}
	ab := issue(wanted{subject: "a", key: loopA.key, ca: true}, loopB)
	ba := issue(wanted{subject: "b", key: loopB.key, ca: true}, loopA)
	add("a loop", issue(wanted{subject: "alice"}, loopA), []*certificate{ab, ba})
	bOfRoot := issue(wanted{subject: "b", key: loopB.key, ca: true}, root)
	add("a loop with a way out", issue(wanted{subject: "alice"}, loopA), []*certificate{ab, ba, bOfRoot})
	twice := issue(wanted{subject: "middle", ca: true, key: middle.key, serial: []byte{9}}, middle)
	add("the same authority twice", leafOfMiddle, []*certificate{twice, middle})
	var crossed []*certificate
	for range 12 {
		crossed = append(crossed, issue(wanted{subject: "root", ca: true, serial: []byte{byte(1 + len(crossed))}, key: ecKey(elliptic.P256())}, root))
	}
	add("many that the root signed in its own name", issue(wanted{subject: "alice"}, crossed[11]), crossed)
	var mesh []*certificate
	meshKeys := []crypto.Signer{ecKey(elliptic.P521()), ecKey(elliptic.P521()), ecKey(elliptic.P521()), ecKey(elliptic.P521())}
	for i, key := range meshKeys {
		for j, signer := range meshKeys {
			mesh = append(mesh, issue(wanted{subject: "mesh", ca: true, key: key, serial: []byte{byte(1 + i), byte(j)}}, &certificate{subject: name("mesh"), key: signer}))
		}
	}
	add("strangers that sign one another", issue(wanted{subject: "alice"}, &certificate{subject: name("mesh"), key: meshKeys[0]}), mesh)
	deep := []*certificate{root}
	for i := range 12 {
		deep = append(deep, issue(wanted{subject: "deep" + string(rune('a'+i)), ca: true}, deep[i]))
	}
	add("ten authorities deep", issue(wanted{subject: "alice"}, deep[10]), deep[1:11])
	keyID := func(id byte) asn1.RawValue { return ext(subjectKey, false, element(4, []byte{id})) }
	ofKey := func(id byte) asn1.RawValue { return ext(authorityKey, false, element(0x30, element(0x80, []byte{id}))) }
	named := issue(wanted{subject: "named", ca: true, extensions: []asn1.RawValue{keyID(1)}}, nil)
	add("key ids that fit", issue(wanted{subject: "alice", extensions: []asn1.RawValue{ofKey(1)}}, named), nil, named)
	add("key ids that do not fit", issue(wanted{subject: "alice", extensions: []asn1.RawValue{ofKey(2)}}, named), nil, named)

	// authorities
	below("an authority", wanted{ca: true}, wanted{})
	below("an authority without basicConstraints", wanted{}, wanted{})
	below("basicConstraints without CA", one(ext(basic, true, der(struct{}{}))), wanted{})
	below("basicConstraints that is no list", one(ext(basic, true, []byte{5, 0})), wanted{})
	below("basicConstraints with a strange boolean", one(ext(basic, true, element(0x30, []byte{1, 1, 1}))), wanted{})
	below("basicConstraints that is not critical", one(ext(basic, false, element(0x30, []byte{1, 1, 0xff}))), wanted{})
	below("basicConstraints with a negative length", one(ext(basic, true, element(0x30, []byte{1, 1, 0xff, 2, 1, 0xff}))), wanted{})
	below("basicConstraints with more behind", one(ext(basic, true, element(0x30, []byte{1, 1, 0xff, 5, 0}))), wanted{})
	below("an authority without keyCertSign", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{3, 2, 5, 0xa0})}}, wanted{})
	below("an authority with keyUsage of nothing", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{3, 1, 0})}}, wanted{})
	below("an authority with keyUsage beyond what is known", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{3, 3, 4, 0, 0x10})}}, wanted{})
	below("keyUsage that is none", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{4, 1, 4})}}, wanted{})
	below("keyUsage with bits where none are", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{3, 2, 3, 0x07})}}, wanted{})
	below("an expired authority", wanted{ca: true, notAfter: now.Add(-time.Hour)}, wanted{})
	below("an authority for servers", wanted{ca: true, usages: []oid{serverAuth}}, wanted{})
	below("an authority for servers, a client of its own", wanted{ca: true, usages: []oid{serverAuth}}, wanted{usages: []oid{clientAuth}})
	below("an authority for clients, a server", wanted{ca: true, usages: []oid{clientAuth}}, wanted{usages: []oid{serverAuth}})
	below("an authority for anything, a client", wanted{ca: true, usages: []oid{anyUsage}}, wanted{usages: []oid{clientAuth}})
	below("an authority with a critical extension nobody knows", wanted{ca: true, extensions: []asn1.RawValue{ext(oid{1, 2, 3}, true, []byte{5, 0})}}, wanted{})
	below("an authority of version 1", wanted{version: 1}, wanted{})
	below("an authority of version 1 with extensions", wanted{version: 1, ca: true}, wanted{})
	below("an authority of version 2", wanted{version: 2, ca: true}, wanted{})
	under("a root of version 1", wanted{version: 1}, wanted{})
	under("a root of version 3 without basicConstraints", wanted{}, wanted{})
	under("a root that is none", one(ext(basic, true, der(struct{}{}))), wanted{})
	under("a root without keyCertSign", wanted{extensions: []asn1.RawValue{caTrue, ext(keyUsage, true, []byte{3, 2, 5, 0xa0})}}, wanted{})
	under("a root for servers", wanted{ca: true, usages: []oid{serverAuth}}, wanted{})
	for limit := range 3 {
		short := issue(wanted{subject: "short", extensions: []asn1.RawValue{certSign, ext(basic, true, element(0x30, []byte{1, 1, 0xff, 2, 1, byte(limit)}))}}, nil)
		first := issue(wanted{subject: "first", ca: true}, short)
		second := issue(wanted{subject: "second", ca: true}, first)
		text := string(rune('0' + limit))
		add("length "+text+", none between", issue(wanted{subject: "alice"}, short), nil, short)
		add("length "+text+", one between", issue(wanted{subject: "alice"}, first), []*certificate{first}, short)
		add("length "+text+", two between", issue(wanted{subject: "alice"}, second), []*certificate{first, second}, short)
	}
	middleLength := issue(wanted{subject: "ml", extensions: []asn1.RawValue{certSign, ext(basic, true, element(0x30, []byte{1, 1, 0xff, 2, 1, 0}))}}, root)
	belowLength := issue(wanted{subject: "bl", ca: true}, middleLength)
	add("an intermediate's length of 0", issue(wanted{subject: "alice"}, belowLength), []*certificate{middleLength, belowLength})

	// numbers and forms
	client("version 1", wanted{version: 1})
	client("version 2", wanted{version: 2})
	client("version 1 with extensions for servers only", wanted{version: 1, usages: []oid{serverAuth}})
	client("version 1 with a critical extension nobody knows", wanted{version: 1, extensions: []asn1.RawValue{ext(oid{1, 2, 3}, true, []byte{5, 0})}})
	client("version 4", wanted{version: 4})
	client("a negative serial", wanted{serial: []byte{0x80}})
	client("serial 0", wanted{serial: []byte{0}})
	client("a long serial", wanted{serial: append([]byte{1}, make([]byte, 40)...)})
	client("a serial with zeros before", wanted{serial: []byte{0, 1}})
	client("an empty serial", wanted{serial: []byte{}})
	client("bytes behind", wanted{cut: func(b []byte) []byte { return append(b, 0) }})
	client("a length that is not the shortest", wanted{}.longValidity())
	client("algorithms that differ within and without", wanted{outer: &pkix.AlgorithmIdentifier{Algorithm: sha384ECDSA}})
	client("an algorithm with parameters", wanted{signature: &signature{ai: pkix.AlgorithmIdentifier{Algorithm: sha256ECDSA, Parameters: asn1.NullRawValue}, hash: crypto.SHA256, pss: -1}})

	// names
	text := func(tag byte, bytes string) []byte {
		return element(0x30, element(0x31, element(0x30, der(oid{2, 5, 4, 3}), element(tag, []byte(bytes)))))
	}
	client("a name with a letter that is not printable", wanted{subject: text(0x13, "alice@home")})
	client("a name with a star", wanted{subject: text(0x13, "*&")})
	client("a name of bad UTF-8", wanted{subject: text(0x0c, "a\xff")})
	client("a name of IA5", wanted{subject: text(0x16, "alice@home")})
	client("a name of bad IA5", wanted{subject: text(0x16, "\xe4")})
	client("a name of T61", wanted{subject: text(0x14, "\xe4")})
	client("a name of BMP", wanted{subject: text(0x1e, "\x00a\x00b")})
	client("a name of half a BMP", wanted{subject: text(0x1e, "\x00a\x00")})
	client("a name of digits", wanted{subject: text(0x12, "12 3")})
	client("a name of digits with a letter", wanted{subject: text(0x12, "12a")})
	client("a name of a universal string", wanted{subject: text(0x1c, "\x00\x00\x00a")})
	client("a name of octets", wanted{subject: text(0x04, "a")})
	client("no name", wanted{subject: element(0x30)})
	badRoot := &certificate{subject: text(0x13, "ro@t"), key: root.key}
	add("an issuer's name that is not printable", issue(wanted{subject: "alice"}, badRoot), nil, root)

	// extensions
	critical := func(id oid, value []byte) wanted { return one(ext(id, true, value)) }
	client("an extension nobody knows", one(ext(oid{1, 2, 3}, false, []byte{5, 0})))
	client("a critical extension nobody knows", critical(oid{1, 2, 3}, []byte{5, 0}))
	client("an extension twice", wanted{extensions: []asn1.RawValue{ext(oid{1, 2, 3}, false, []byte{5, 0}), ext(oid{1, 2, 3}, false, []byte{5, 0})}})
	client("a strange boolean for critical", one(full(element(0x30, der(oid{1, 2, 3}), []byte{1, 1, 1}, element(4, []byte{5, 0})))))
	client("a critical of false, written", one(full(element(0x30, der(oid{1, 2, 3}), []byte{1, 1, 0}, element(4, []byte{5, 0})))))
	client("a critical key id", critical(subjectKey, element(4, []byte{1})))
	client("a critical authority's key id", critical(authorityKey, element(0x30, element(0x80, []byte{1}))))
	client("a key id that is none", one(ext(subjectKey, false, []byte{5, 0})))
	client("an authority's key id that is none", one(ext(authorityKey, false, []byte{5, 0})))
	client("critical authority information", critical(oid{1, 3, 6, 1, 5, 5, 7, 1, 1}, element(0x30)))
	client("authority information that is none", one(ext(oid{1, 3, 6, 1, 5, 5, 7, 1, 1}, false, []byte{5, 0})))
	client("critical CRL points", critical(crlPoints, element(0x30)))
	client("CRL points that are none", one(ext(crlPoints, false, []byte{5, 0})))
	client("critical policies", critical(policies, element(0x30, element(0x30, der(oid{1, 2, 3})))))
	client("a policy twice", one(ext(policies, false, element(0x30, element(0x30, der(oid{1, 2, 3})), element(0x30, der(oid{1, 2, 3}))))))
	below("explicit policies without a policy", wanted{ca: true, extensions: []asn1.RawValue{ext(policyConstraints, true, element(0x30, []byte{0x80, 1, 0}))}}, wanted{})
	below("explicit policies, not critical", wanted{ca: true, extensions: []asn1.RawValue{ext(policyConstraints, false, element(0x30, []byte{0x80, 1, 0}))}}, wanted{})
	below("no any policy", wanted{ca: true, extensions: []asn1.RawValue{ext(inhibitAny, true, []byte{2, 1, 0})}}, wanted{})
	below("a mapping of any policy", wanted{ca: true, extensions: []asn1.RawValue{ext(policyMappings, true, element(0x30, element(0x30, der(oid{2, 5, 29, 32, 0}), der(oid{1, 2}))))}}, wanted{})

	// alternative names
	san := func(names ...[]byte) []byte { return element(0x30, names...) }
	dns := func(text string) []byte { return element(0x82, []byte(text)) }
	mail := func(text string) []byte { return element(0x81, []byte(text)) }
	uri := func(text string) []byte { return element(0x86, []byte(text)) }
	ip := func(bytes ...byte) []byte { return element(0x87, bytes) }
	dir := func(common string) []byte { return element(0xa4, name(common)) }
	client("alternative names", critical(altNames, san(dns("a.example"), mail("a@b.example"), uri("spiffe://a/b"), ip(10, 0, 0, 1))))
	client("a critical list of no names", critical(altNames, san()))
	client("a list of no names", one(ext(altNames, false, san())))
	client("critical names of a kind nobody knows", critical(altNames, san(dir("x"))))
	client("names of a kind nobody knows", one(ext(altNames, false, san(dir("x")))))
	client("names that are no list", one(ext(altNames, false, []byte{5, 0})))
	client("a DNS name of high bytes", one(ext(altNames, false, san(dns("\xe4")))))
	client("a DNS name that is none", one(ext(altNames, false, san(dns("a b..c")))))
	client("a mail address of high bytes", one(ext(altNames, false, san(mail("\xe4@b")))))
	client("an address of five bytes", one(ext(altNames, false, san(ip(1, 2, 3, 4, 5)))))
	client("a URI of high bytes", one(ext(altNames, false, san(uri("http://\xe4/")))))
	client("a URI that is none", one(ext(altNames, false, san(uri("http://%zz/")))))
	client("a URI with a bad domain", one(ext(altNames, false, san(uri("http://a..b/")))))
	client("a URI without a host", one(ext(altNames, false, san(uri("urn:a:b")))))

	// name constraints
	permitted := func(names ...[]byte) []byte { return subtrees(0xa0, names) }
	excluded := func(names ...[]byte) []byte { return subtrees(0xa1, names) }
	limited := func(name string, critical bool, constraint []byte, altName ...[]byte) {
		leaf := wanted{}
		if len(altName) > 0 {
			leaf.extensions = []asn1.RawValue{ext(altNames, false, san(altName...))}
		}
		below("constraints: "+name, wanted{ca: true, extensions: []asn1.RawValue{ext(nameConstraints, critical, element(0x30, constraint))}}, leaf)
	}
	limited("critical directory, no names", true, permitted(dir("x")))
	limited("directory, not critical", false, permitted(dir("x")))
	limited("critical directory and DNS", true, permitted(dir("x"), dns("a.example")), dns("a.example"))
	limited("DNS, no names", true, permitted(dns("a.example")))
	limited("DNS, fits", true, permitted(dns("a.example")), dns("b.a.example"))
	limited("DNS, itself", true, permitted(dns("A.example")), dns("a.EXAMPLE"))
	limited("DNS, does not fit", true, permitted(dns("a.example")), dns("ba.example"))
	limited("DNS, does not fit, not critical", false, permitted(dns("a.example")), dns("b.example"))
	limited("DNS, other kinds of names", true, permitted(dns("a.example")), mail("a@b.example"), ip(1, 2, 3, 4))
	limited("DNS with a dot, below", true, permitted(dns(".a.example")), dns("b.a.example"))
	limited("DNS with a dot, itself", true, permitted(dns(".a.example")), dns("a.example"))
	limited("DNS, excluded", true, excluded(dns("a.example")), dns("b.a.example"))
	limited("DNS, not excluded", true, excluded(dns("a.example")), dns("b.example"))
	limited("DNS, all excluded", true, excluded(dns("")), dns("b.example"))
	limited("DNS, all permitted", true, permitted(dns("")), dns("b.example"))
	limited("DNS, a star excluded by a name below", true, excluded(dns("b.a.example")), dns("*.a.example"))
	limited("DNS, a star permitted", true, permitted(dns("a.example")), dns("*.a.example"))
	limited("DNS, both", true, append(permitted(dns("example")), excluded(dns("a.example"))...), dns("a.example"))
	limited("DNS, both, between", true, append(permitted(dns("example")), excluded(dns("a.example"))...), dns("b.example"))
	limited("DNS, a name that is none", true, permitted(dns("example")), dns("a..example"))
	limited("DNS, a constraint that is none", true, permitted(dns("a..b")), dns("a.example"))
	limited("IP, fits", true, permitted(ip(10, 0, 0, 0, 255, 0, 0, 0)), ip(10, 1, 2, 3))
	limited("IP, does not fit", true, permitted(ip(10, 0, 0, 0, 255, 0, 0, 0)), ip(11, 1, 2, 3))
	limited("IP, the other family", true, permitted(ip(10, 0, 0, 0, 255, 0, 0, 0)), ip(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 10, 1, 2, 3))
	limited("IP, excluded", true, excluded(ip(10, 0, 0, 0, 255, 0, 0, 0)), ip(10, 1, 2, 3))
	limited("IP, a mask that is none", true, permitted(ip(10, 0, 0, 0, 255, 0, 255, 0)), ip(10, 1, 2, 3))
	limited("IP, of five bytes", true, permitted(ip(10, 0, 0, 0, 255)), ip(10, 1, 2, 3))
	limited("mail, by domain", true, permitted(mail("b.example")), mail("a@b.example"))
	limited("mail, below the domain", true, permitted(mail("b.example")), mail("a@c.b.example"))
	limited("mail, with a dot", true, permitted(mail(".b.example")), mail("a@c.b.example"))
	limited("mail, another domain", true, permitted(mail("b.example")), mail("a@c.example"))
	limited("mail, one mailbox", true, permitted(mail("a@b.example")), mail("a@B.example"))
	limited("mail, another mailbox", true, permitted(mail("a@b.example")), mail("A@b.example"))
	limited("mail, quoted", true, permitted(mail("b.example")), mail("\"a b\"@b.example"))
	limited("mail, that is none", true, permitted(mail("b.example")), mail("nobody"))
	limited("mail, excluded", true, excluded(mail("b.example")), mail("a@b.example"))
	limited("URI, fits", true, permitted(uri(".example")), uri("https://a.example/x"))
	limited("URI, with a port", true, permitted(uri("a.example")), uri("https://a.example:8443/x"))
	limited("URI, does not fit", true, permitted(uri("b.example")), uri("https://a.example/x"))
	limited("URI, an address", true, permitted(uri("b.example")), uri("https://10.0.0.1/x"))
	limited("URI, no host", true, permitted(uri("b.example")), uri("urn:a:b"))
	limited("URI, no host, DNS constraint", true, permitted(dns("b.example")), uri("urn:a:b"))
	limited("URI, excluded", true, excluded(uri("a.example")), uri("https://a.example/x"))
	limited("URI, a constraint that is an address", true, permitted(uri("10.0.0.1")), uri("https://a.example/x"))
	limited("empty", true, nil)
	limited("empty lists", true, append(permitted(), excluded()...))
	limited("with a minimum", true, element(0xa0, element(0x30, dns("a.example"), []byte{0x80, 1, 1})), dns("a.example"))
	limited("that are none", true, []byte{5, 0})
	rooted := issue(wanted{subject: "rooted", ca: true, extensions: []asn1.RawValue{ext(nameConstraints, true, element(0x30, permitted(dns("a.example"))))}}, nil)
	add("constraints of the root, does not fit", issue(wanted{subject: "alice", extensions: []asn1.RawValue{ext(altNames, false, san(dns("b.example")))}}, rooted), nil, rooted)
	namedCA := issue(wanted{subject: "named ca", ca: true, extensions: []asn1.RawValue{ext(altNames, false, san(dns("b.example")))}}, rooted)
	add("constraints of the root, the authority's name does not fit", issue(wanted{subject: "alice"}, namedCA), []*certificate{namedCA}, rooted)

	// keys and signatures
	for _, bits := range []int{512, 768, 1023, 1024, 2048, 3072} {
		under("RSA "+string(big.NewInt(int64(bits)).Append(nil, 10)), wanted{ca: true, key: rsaKey(bits)}, wanted{})
	}
	client("a client's key of 512 bits", wanted{key: rsaKey(512)})
	strong := rsaKey(2048)
	byRSA := func(name string, s signature) {
		own := issue(wanted{subject: "rsa root", ca: true, key: strong}, nil)
		add(name, issue(wanted{subject: "alice", signature: &s}, own), nil, own)
	}
	byRSA("SHA-384 with RSA", with(sha384RSA, crypto.SHA384))
	byRSA("SHA-512 with RSA", with(sha512RSA, crypto.SHA512))
	byRSA("SHA-224 with RSA", with(sha224RSA, crypto.SHA224))
	byRSA("SHA-1 with RSA", with(sha1RSA, crypto.SHA1))
	byRSA("MD5 with RSA", with(md5RSA, crypto.MD5))
	byRSA("an algorithm that does not fit the signature", with(sha384RSA, crypto.SHA256))
	withoutNull := with(sha256RSA, crypto.SHA256)
	withoutNull.ai.Parameters = asn1.RawValue{}
	byRSA("RSA without NULL", withoutNull)
	byRSA("PSS with SHA-256", pss(crypto.SHA256, sha256ID, sha256ID, 32, 1))
	byRSA("PSS with SHA-384", pss(crypto.SHA384, sha384ID, sha384ID, 48, 1))
	byRSA("PSS with SHA-512", pss(crypto.SHA512, sha512ID, sha512ID, 64, 1))
	byRSA("PSS with SHA-1", pss(crypto.SHA1, sha1ID, sha1ID, 20, 1))
	byRSA("PSS with a short salt", pss(crypto.SHA256, sha256ID, sha256ID, 20, 1))
	byRSA("PSS with a long salt", pss(crypto.SHA256, sha256ID, sha256ID, 64, 1))
	byRSA("PSS with another hash in its mask", pss(crypto.SHA256, sha256ID, sha1ID, 32, 1))
	byRSA("PSS with another trailer", pss(crypto.SHA256, sha256ID, sha256ID, 32, 2))
	byRSA("PSS without parameters", signature{ai: pkix.AlgorithmIdentifier{Algorithm: pssRSA}, hash: crypto.SHA256, pss: 32})
	byRSA("PSS of defaults", signature{ai: pkix.AlgorithmIdentifier{Algorithm: pssRSA, Parameters: full(element(0x30))}, hash: crypto.SHA1, pss: 20})
	byEC := func(name string, curve elliptic.Curve, s signature) {
		own := issue(wanted{subject: "ec root", ca: true, key: ecKey(curve)}, nil)
		add(name, issue(wanted{subject: "alice", signature: &s}, own), nil, own)
	}
	byEC("SHA-1 with ECDSA", elliptic.P256(), with(sha1ECDSA, crypto.SHA1))
	byEC("P-224", elliptic.P224(), with(sha256ECDSA, crypto.SHA256))
	byEC("P-384", elliptic.P384(), with(sha384ECDSA, crypto.SHA384))
	byEC("P-521", elliptic.P521(), with(sha512ECDSA, crypto.SHA512))
	byEC("P-256 with SHA-512", elliptic.P256(), with(sha512ECDSA, crypto.SHA512))
	under("Ed25519", wanted{ca: true, key: edKey()}, wanted{key: edKey()})
	edNull := with(plainED, 0)
	edNull.ai.Parameters = asn1.NullRawValue
	under("Ed25519 with parameters", wanted{ca: true, key: edKey()}, wanted{signature: &edNull})
	edKeyRoot := edKey()
	ownED := issue(wanted{subject: "ed", ca: true, key: edKeyRoot}, nil)
	rsaName := &certificate{subject: ownED.subject, key: strong}
	add("signed by RSA, the authority has Ed25519", issue(wanted{subject: "alice"}, rsaName), nil, ownED)
	client("an RSA key without NULL", wanted{key: strong, spki: rsaSPKI(strong.N, strong.E, asn1.RawValue{})})
	client("an RSA key with a negative modulus", wanted{key: strong, spki: rsaSPKI(new(big.Int).Neg(strong.N), strong.E, asn1.NullRawValue)})
	client("an RSA key with exponent 0", wanted{key: strong, spki: rsaSPKI(strong.N, 0, asn1.NullRawValue)})
	under("an authority with an even exponent", wanted{ca: true, key: strong, spki: rsaSPKI(strong.N, 4, asn1.NullRawValue)}, wanted{})
	client("a key of a kind nobody knows", wanted{spki: element(0x30, element(0x30, der(oid{1, 2, 3, 4})), []byte{3, 2, 0, 1})})
	client("a key on a curve nobody knows", wanted{spki: element(0x30, element(0x30, der(oid{1, 2, 840, 10045, 2, 1}), der(oid{1, 3, 132, 0, 10})), append([]byte{3, 66, 0, 4}, make([]byte, 64)...))})
	client("a point that is not on the curve", wanted{spki: element(0x30, element(0x30, der(oid{1, 2, 840, 10045, 2, 1}), der(oid{1, 2, 840, 10045, 3, 1, 7})), append([]byte{3, 66, 0, 4}, make([]byte, 64)...))})
	return out
}

func subtrees(tag byte, names [][]byte) []byte {
	var all [][]byte
	for _, one := range names {
		all = append(all, element(0x30, one))
	}
	return element(tag, all...)
}

// longValidity: a good one whose length is written in two bytes where one would do.
func (w wanted) longValidity() wanted {
	content := append(element(0x17, []byte("250101000000Z")), element(0x17, []byte("300101000000Z"))...)
	w.validity = append([]byte{0x30, 0x81, byte(len(content))}, content...)
	return w
}
