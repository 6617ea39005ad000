package main

import v1 "k8s.io/api/core/v1"

const (
	ok   = "HTTP/1.1 200 OK\r\n"
	long = "0123456789abcdef"
)

// raw is an answer in one piece; then the server closes.
func raw(name, text string) answer {
	return answer{Name: name, Connections: [][]step{{{Send: text, End: "close"}}}}
}

// held is an answer in one piece on a connection that the server leaves open.
func held(name, text string) answer {
	return answer{Name: name, Connections: [][]step{{{Send: text}}}}
}

// steps on each connection.
func script(name string, steps ...step) answer {
	return answer{Name: name, Connections: [][]step{steps}}
}

// moved: a redirect on the first connection, a plain answer on all others.
func moved(name, status, location string) answer {
	return answer{Name: name, Path: "/from/here?q=1", Connections: [][]step{
		{{Send: "HTTP/1.1 " + status + "\r\n" + location + "Content-Length: 5\r\n\r\nmoved", End: "close"}},
		{{Send: ok + "Content-Length: 7\r\n\r\narrived", End: "close"}},
	}}
}

func to(location string) string { return "Location: " + location + "\r\n" }

func with(c answer, change func(*answer)) answer {
	change(&c)
	return c
}

func asked(path string, headers ...v1.HTTPHeader) func(*answer) {
	return func(c *answer) { c.Path, c.Headers = path, headers }
}

func answers() []answer {
	head := ok + "Content-Length: 2\r\n\r\nok"
	out := []answer{
		raw("plain", head),
		held("plain, left open", head),
		held("no length, left open", ok+"\r\nok"),
		raw("no length, closed", ok+"\r\nok"),
		held("length 0", ok+"Content-Length: 0\r\n\r\n"),

		// 1xx
		held("101 with Upgrade, left open", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"),
		raw("101 with Upgrade, closed", "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nab"),
		script("101 with Upgrade and much", step{Send: "HTTP/1.1 101 S\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"}, step{Send: long, Times: 1000}),
		held("101 without Upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"),
		held("101 with a length", "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 5\r\n\r\nhello"),
		raw("100 then 200", "HTTP/1.1 100 Continue\r\n\r\n"+head),
		raw("102, 103, 150 then 200", "HTTP/1.1 102 P\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 150 x\r\n\r\n"+head),
		script("a thousand 100", step{Send: "HTTP/1.1 100 Continue\r\n\r\n", Times: 1000}, step{Send: head, End: "close"}),
		script("100 for ever", step{Send: "HTTP/1.1 100 Continue\r\n\r\n", Times: 1000, Forever: true}),
		held("100 alone", "HTTP/1.1 100 Continue\r\n\r\n"),
		raw("100 then the end", "HTTP/1.1 100 Continue\r\n\r\n"),
		raw("199", "HTTP/1.1 199 x\r\n\r\n"+head),
		raw("100 with a bad length", "HTTP/1.1 100 Continue\r\nContent-Length: x\r\n\r\n"+head),
		raw("100 with a body", "HTTP/1.1 100 Continue\r\nContent-Length: 2\r\n\r\nok"+head),

		// line ends
		raw("bare LF", "HTTP/1.1 200 OK\n\nok"),
		raw("bare LF with headers", "HTTP/1.1 200 OK\nA: b\nContent-Length: 2\n\nok"),
		raw("CR and LF mixed", "HTTP/1.1 200 OK\r\nA: b\n\r\nok"),
		raw("bare CR", "HTTP/1.1 200 OK\r\rok"),
		raw("two CR before the LF", "HTTP/1.1 200 OK\r\r\n\r\nok"),
		raw("a CR in a header's value", ok+"A: b\rc\r\n\r\nok"),
		raw("an empty line first", "\r\n"+head),
		raw("a head without its end", ok+"A: b\r\n"),
		raw("a head that ends with CR", ok+"A: b\r\n\r"),
		raw("a head that ends within a name", ok+"Conten"),

		// bodies and lengths
		raw("bytes after the length", ok+"Content-Length: 2\r\n\r\nokay"),
		held("bytes after the length, left open", ok+"Content-Length: 2\r\n\r\nokHTTP/1.1 500 x\r\n\r\n"),
		raw("204 with a body", "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\nok"),
		held("204", "HTTP/1.1 204 No Content\r\n\r\n"),
		held("304 with a body", "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok"),
		held("204, chunked", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"),
		raw("two equal lengths", ok+"Content-Length: 2\r\nContent-Length: 2\r\n\r\nok"),
		raw("two equal lengths, blanks differ", ok+"Content-Length: 2\r\nContent-Length:  2 \r\n\r\nok"),
		raw("two different lengths", ok+"Content-Length: 2\r\nContent-Length: 3\r\n\r\nokk"),
		raw("lengths 2 and 02", ok+"Content-Length: 2\r\nContent-Length: 02\r\n\r\nok"),
		raw("a list of lengths", ok+"Content-Length: 2, 2\r\n\r\nok"),
		raw("length and chunked", ok+"Content-Length: 100\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("a bad length and chunked", ok+"Content-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("a negative length", ok+"Content-Length: -1\r\n\r\nok"),
		raw("a length with a plus", ok+"Content-Length: +2\r\n\r\nok"),
		raw("a length in hex", ok+"Content-Length: 0x2\r\n\r\nok"),
		raw("an empty length", ok+"Content-Length:\r\n\r\nok"),
		raw("a length of 2^63", ok+"Content-Length: 9223372036854775808\r\n\r\nok"),
		raw("a length of 2^63-1, cut short", ok+"Content-Length: 9223372036854775807\r\n\r\nok"),
		raw("a length with leading zeros", ok+"Content-Length: 0000000000000000000000000002\r\n\r\nok"),
		raw("a body cut short", ok+"Content-Length: 20\r\n\r\nok"),
		held("a body that stops", ok+"Content-Length: 20\r\n\r\nok"),
		raw("a bad status with a body cut short", "HTTP/1.1 500 x\r\nContent-Length: 20\r\n\r\nok"),
		script("an endless body", step{Send: ok + "\r\n"}, step{Send: long, Times: 4096, Forever: true}),
		script("an endless body of a length", step{Send: ok + "Content-Length: 9000000000\r\n\r\n"}, step{Send: long, Times: 4096, Forever: true}),
		script("10 KiB less one, left open", step{Send: ok + "\r\n" + long[:15]}, step{Send: long, Times: 639}),
		script("10 KiB, left open", step{Send: ok + "\r\n"}, step{Send: long, Times: 640}),
		script("10 KiB, then cut short", step{Send: ok + "Content-Length: 20000\r\n\r\n"}, step{Send: long, Times: 640, End: "close"}),
		raw("binary body", ok+"Content-Length: 4\r\n\r\n\x00\u00ff\u00fe\n"),
		raw("gzip is declared", ok+"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\nok"),

		// chunks
		raw("chunked", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n3\r\n ay\r\n0\r\n\r\n"),
		held("chunked, left open", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("Chunked in capitals", ok+"Transfer-Encoding: CHUNKED\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("blanks after a chunk's size", ok+"Transfer-Encoding: chunked\r\n\r\n2  \t\r\nok\r\n0 \r\n\r\n"),
		raw("blanks before a chunk's size", ok+"Transfer-Encoding: chunked\r\n\r\n 2\r\nok\r\n0\r\n\r\n"),
		raw("chunk extensions", ok+"Transfer-Encoding: chunked\r\n\r\n2;a=b;c=\"d\"\r\nok\r\n0;x\r\n\r\n"),
		raw("blank before an extension", ok+"Transfer-Encoding: chunked\r\n\r\n2 ;a\r\nok\r\n0\r\n\r\n"),
		raw("chunk lines with bare LF", ok+"Transfer-Encoding: chunked\r\n\r\n2\nok\n0\n\n"),
		raw("a chunk's data ends with LF", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\n0\r\n\r\n"),
		raw("a CR within a chunk's line", ok+"Transfer-Encoding: chunked\r\n\r\n2\r;\r\nok\r\n0\r\n\r\n"),
		raw("a chunk longer than said", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n0\r\n\r\n"),
		raw("a chunk's size that is none", ok+"Transfer-Encoding: chunked\r\n\r\nxyz\r\nok\r\n0\r\n\r\n"),
		raw("a chunk without a size", ok+"Transfer-Encoding: chunked\r\n\r\n\r\nok\r\n0\r\n\r\n"),
		raw("a chunk's size of 17 digits", ok+"Transfer-Encoding: chunked\r\n\r\n00000000000000002\r\nok\r\n0\r\n\r\n"),
		raw("a chunk's size of 16 digits", ok+"Transfer-Encoding: chunked\r\n\r\n0000000000000002\r\nok\r\n0\r\n\r\n"),
		raw("a huge chunk, cut short", ok+"Transfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\nok"),
		raw("chunks without the last", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n"),
		raw("a chunk cut short", ok+"Transfer-Encoding: chunked\r\n\r\n5\r\nok"),
		raw("the last chunk without its end", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"),
		held("the last chunk without its end, left open", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n"),
		script("a chunk's line of 4095", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n2;"}, step{Send: "x", Times: 4091}, step{Send: "\r\nok\r\n0\r\n\r\n", End: "close"}),
		script("a chunk's line of 5000", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n2;"}, step{Send: "x", Times: 5000}, step{Send: "\r\nok\r\n0\r\n\r\n", End: "close"}),
		script("too much that is no data", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n"}, step{Send: "1;01234567890123456789012345678901234567890123456789\r\nx\r\n", Times: 1000}, step{Send: "0\r\n\r\n", End: "close"}),
		script("one byte a chunk", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n"}, step{Send: "1\r\nx\r\n", Times: 5000}, step{Send: "0\r\n\r\n", End: "close"}),
		raw("trailers", ok+"Transfer-Encoding: chunked\r\nTrailer: A\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n\r\n"),
		raw("trailers that are not announced", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\nC: d\r\n\r\n"),
		raw("a trailer that is forbidden", ok+"Transfer-Encoding: chunked\r\nTrailer: Content-Length\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("a forbidden trailer without chunks", ok+"Trailer: Content-Length\r\n\r\nok"),
		raw("a bad trailer", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nbad trailer\r\n\r\n"),
		raw("trailers with bare LF", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\n\n"),
		raw("trailers cut short", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: b\r\n"),
		script("a long trailer", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\nA: "}, step{Send: long, Times: 400}, step{Send: "\r\n\r\n", End: "close"}),
		raw("chunked twice", ok+"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("gzip, chunked", ok+"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("identity", ok+"Transfer-Encoding: identity\r\n\r\nok"),
		raw("an empty encoding", ok+"Transfer-Encoding:\r\n\r\nok"),
		raw("chunked in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"),

		// status lines
		raw("HTTP/1.0", "HTTP/1.0 200 OK\r\n\r\nok"),
		raw("HTTP/1.0 keep-alive without a length", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n\r\nok"),
		raw("HTTP/0.9", "<html>ok</html>\r\n"),
		raw("HTTP/0.9 without a blank", "ok\n"),
		raw("version 0.9", "HTTP/0.9 200 OK\r\n\r\nok"),
		raw("version 2.0", "HTTP/2.0 200 OK\r\n\r\nok"),
		raw("version 9.9", "HTTP/9.9 200 OK\r\n\r\nok"),
		raw("version 1.10", "HTTP/1.10 200 OK\r\n\r\nok"),
		raw("version 1", "HTTP/1 200 OK\r\n\r\nok"),
		raw("version 1.x", "HTTP/1.x 200 OK\r\n\r\nok"),
		raw("version in small letters", "http/1.1 200 OK\r\n\r\nok"),
		raw("ICY", "ICY 200 OK\r\n\r\nok"),
		raw("a blank first", " HTTP/1.1 200 OK\r\n\r\nok"),
		raw("two blanks", "HTTP/1.1  200 OK\r\n\r\nok"),
		raw("a tab for the blank", "HTTP/1.1\t200 OK\r\n\r\nok"),
		raw("no reason", "HTTP/1.1 200\r\n\r\nok"),
		raw("no reason but a blank", "HTTP/1.1 200 \r\n\r\nok"),
		raw("a tab before the reason", "HTTP/1.1 200\tOK\r\n\r\nok"),
		raw("a reason of strange bytes", "HTTP/1.1 200 \x00\x01\u00ff \u00e9\r\n\r\nok"),
		raw("no status", "HTTP/1.1\r\n\r\nok"),
		raw("no status but a blank", "HTTP/1.1 \r\n\r\nok"),
		raw("status of two digits", "HTTP/1.1 20 OK\r\n\r\nok"),
		raw("status 1000", "HTTP/1.1 1000 OK\r\n\r\nok"),
		raw("status 000", "HTTP/1.1 000 OK\r\n\r\nok"),
		raw("status 099", "HTTP/1.1 099 OK\r\n\r\nok"),
		raw("status +20", "HTTP/1.1 +20 OK\r\n\r\nok"),
		raw("status -20", "HTTP/1.1 -20 OK\r\n\r\nok"),
		raw("status -00", "HTTP/1.1 -00 OK\r\n\r\nok"),
		raw("status 2x0", "HTTP/1.1 2x0 OK\r\n\r\nok"),
		raw("status 299", "HTTP/1.1 299 x\r\n\r\nok"),
		raw("status 300", "HTTP/1.1 300 x\r\n\r\nok"),
		raw("status 399", "HTTP/1.1 399 x\r\n\r\nok"),
		raw("status 400", "HTTP/1.1 400 x\r\n\r\nok"),
		raw("status 408", "HTTP/1.1 408 x\r\n\r\nok"),
		raw("status 500", "HTTP/1.1 500 x\r\n\r\nok"),
		raw("status 600", "HTTP/1.1 600 x\r\n\r\nok"),
		raw("status 999", "HTTP/1.1 999 x\r\n\r\nok"),
		raw("SSH", "SSH-2.0-OpenSSH_9.6\r\n"),
		raw("a frame of HTTP/2", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00@\x00"),
		held("a frame of HTTP/2, left open", "\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x05\x00\x00@\x00"),
		raw("the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
		raw("bytes of every kind", "\x00\x01\a\b\t\v\f\x1b\x7f\u0080\u00a0\u00c3\u00a9\u00ff\"\\'\r\n\r\n"),

		// headers
		raw("a blank before the colon", ok+"Content-Length : 100\r\nA: b\r\n\r\nok"),
		raw("a blank within a name", ok+"A B: c\r\n\r\nok"),
		raw("a tab within a name", ok+"A\tB: c\r\n\r\nok"),
		raw("a header without a colon", ok+"Header\r\n\r\nok"),
		raw("a header without a name", ok+": value\r\n\r\nok"),
		raw("a name of strange letters", ok+"A(b): c\r\n\r\nok"),
		raw("a name that is not ASCII", ok+"\u00e4: c\r\n\r\nok"),
		raw("every letter of a token", ok+"!#$%&'*+-.^_`|~09azAZ: c\r\n\r\nok"),
		raw("an empty value", ok+"A:\r\n\r\nok"),
		raw("NUL in a value", ok+"A: b\x00c\r\n\r\nok"),
		raw("NUL in a name", ok+"A\x00: b\r\n\r\nok"),
		raw("DEL in a value", ok+"A: b\x7fc\r\n\r\nok"),
		raw("a control letter in a value", ok+"A: b\x01c\r\n\r\nok"),
		raw("a tab in a value", ok+"A: b\tc\r\n\r\nok"),
		raw("high bytes in a value", ok+"A: \u00e4\u00ff\r\n\r\nok"),
		raw("obs-fold", ok+"A: b\r\n c\r\n\td\r\nContent-Length:\r\n 2\r\n\r\nokay"),
		raw("obs-fold without a colon at first", ok+"A\r\n : b\r\n\r\nok"),
		raw("obs-fold of the first line", ok+" A: b\r\n\r\nok"),
		script("obs-fold of the first line, long", step{Send: ok + " A: b"}, step{Send: long, Times: 6}, step{Send: "\r\n\r\nok", End: "close"}),
		raw("obs-fold that is empty", ok+"A: b\r\n \r\nContent-Length: 2\r\n\r\nokay"),
		raw("an encoding that goes on with an empty line", ok+"Transfer-Encoding: chunked\r\n \r\n\r\n2\r\nok\r\n0\r\n\r\n"),
		raw("a location that goes on", "HTTP/1.1 302 x\r\nLocation: /to\r\n \r\n\r\n"),
		raw("a length in small letters", ok+"content-length: 2\r\n\r\nokay"),
		raw("a length in strange letters", ok+"cOnTeNt-lEnGtH: 2\r\n\r\nokay"),
		script("1000 headers", step{Send: ok}, step{Send: "A: b\r\n", Times: 1000}, step{Send: "\r\nok", End: "close"}),
		script("20000 headers", step{Send: ok}, step{Send: "Header-Name: value\r\n", Times: 20000}, step{Send: "\r\nok", End: "close"}),
		script("a head of 20 KiB", step{Send: ok + "A: "}, step{Send: long, Times: 1280}, step{Send: "\r\n\r\nok", End: "close"}),
		script("a head of 1.5 MiB", step{Send: ok + "A: "}, step{Send: long, Times: 98304}, step{Send: "\r\n\r\nok", End: "close"}),
		script("a head of 9 MiB in lines", step{Send: ok}, step{Send: "A: " + long + long + long + long + "\r\n", Times: 136000}, step{Send: "\r\nok", End: "close"}),
		script("a head of 11 MiB", step{Send: ok + "A: "}, step{Send: long, Times: 720896}, step{Send: "\r\n\r\nok", End: "close"}),
		script("a head without end", step{Send: ok}, step{Send: "A: " + long + "\r\n", Times: 4096, Forever: true}),
		script("a status line without end", step{Send: "HTTP/1.1 200 "}, step{Send: long, Times: 4096, Forever: true}),

		// connections
		script("closed without an answer", step{End: "close"}),
		script("reset without an answer", step{End: "reset"}),
		script("reset within the status line", step{Send: "HTTP/1.1 2", Pause: 200}, step{End: "reset"}),
		script("reset within the head", step{Send: ok + "A: b\r\n", Pause: 200}, step{End: "reset"}),
		script("reset within the body", step{Send: ok + "Content-Length: 20\r\n\r\nok", Pause: 200}, step{End: "reset"}),
		script("reset within a body without a length", step{Send: ok + "\r\nok", Pause: 200}, step{End: "reset"}),
		script("reset within a chunk", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nok", Pause: 200}, step{End: "reset"}),
		script("silent"),
		script("silent within the status line", step{Send: "HTTP/1.1 200"}),
		script("silent within the head", step{Send: ok + "A: b\r\n"}),
		script("a head byte by byte, too slow", step{Send: ok}, step{Send: "A: b\r\n", Pause: 100, Forever: true}),
		script("a body byte by byte, too slow", step{Send: ok + "\r\n"}, step{Send: "x", Pause: 100, Forever: true}),
		script("chunks one by one, too slow", step{Send: ok + "Transfer-Encoding: chunked\r\n\r\n"}, step{Send: "1\r\nx\r\n", Pause: 100, Forever: true}),
		script("in small parts", step{Send: "HTTP/1.", Pause: 10}, step{Send: "1 200 OK\r", Pause: 10}, step{Send: "\nTransfer-Enc", Pause: 10},
			step{Send: "oding: chunked\r\n", Pause: 10}, step{Send: "\r", Pause: 10}, step{Send: "\n2", Pause: 10},
			step{Send: "\r\no", Pause: 10}, step{Send: "k\r", Pause: 10}, step{Send: "\n0\r", Pause: 10}, step{Send: "\n\r", Pause: 10}, step{Send: "\n", End: "close"}),

		// redirects
		moved("301, relative", "301 x", to("/to?a=b#c")),
		moved("302, relative to the folder", "302 x", to("../to")),
		moved("303, absolute", "303 x", to("http://127.0.0.1:PORT!/to")),
		moved("307, without a scheme", "307 x", to("//127.0.0.1:PORT!/to")),
		moved("308, a query only", "308 x", to("?b")),
		moved("302, a fragment only", "302 x", to("#frag")),
		moved("304 with a location", "304 x", to("/to")),
		moved("300 with a location", "300 x", to("/to")),
		moved("305 with a location", "305 x", to("/to")),
		moved("309 with a location", "309 x", to("/to")),
		moved("201 with a location", "201 x", to("/to")),
		moved("302, another host", "302 x", to("http://other.example/to")),
		moved("302, another host by its name", "302 x", to("http://localhost:PORT!/to")),
		moved("302, the same address written differently", "302 x", to("http://127.1:PORT!/to")),
		moved("302, another scheme", "302 x", to("ftp://127.0.0.1/to")),
		moved("302, a scheme without a host", "302 x", to("mailto:a@b")),
		moved("302, javascript", "302 x", to("javascript:alert(1)")),
		moved("302 without a location", "302 x", ""),
		moved("302 with an empty location", "302 x", to("")),
		moved("302 with two locations", "302 x", to("/one")+to("/two")),
		moved("302, a bad escape", "302 x", to("/%zz")),
		moved("302, a bad port", "302 x", to("http://127.0.0.1:port/")),
		moved("302, a bad host", "302 x", to("http://a b/")),
		moved("302, a bracket too few", "302 x", to("http://[::1/")),
		moved("302, no scheme before the colon", "302 x", to(":8080/to")),
		moved("302, a colon in the first part", "302 x", to("127.0.0.1:80/to")),
		moved("302, blanks and letters", "302 x", to("/a b/\u00e4?c d=\u00e4")),
		moved("302, escapes", "302 x", to("/a%2fb/%C3%A4/%41;x=[1]")),
		moved("302, dots", "302 x", to("/a/./b/../c/..")),
		moved("302, two slashes", "302 x", to("/a//b///c")),
		moved("302, a backslash", "302 x", to("\\\\to")),
		moved("302, user and password", "302 x", to("http://user:p%40ss@127.0.0.1:PORT!/to")),
		moved("302, in capitals", "302 x", to("HTTP://127.0.0.1:PORT!/TO")),
		moved("302, an open query", "302 x", to("/to?")),
		with(moved("302 with headers, relative", "302 x", to("/to")), asked("/", v1.HTTPHeader{Name: "Host", Value: "own.example"}, v1.HTTPHeader{Name: "Authorization", Value: "Bearer x"})),
		with(moved("302 with headers, absolute", "302 x", to("http://127.0.0.1:PORT!/to")), asked("/", v1.HTTPHeader{Name: "Host", Value: "own.example"}, v1.HTTPHeader{Name: "Referer", Value: "mine"})),
		script("302 to itself", step{Send: "HTTP/1.1 302 x\r\nLocation: /again\r\nContent-Length: 0\r\n\r\n", End: "close"}),
		{Name: "302, a body without end", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\n\r\n"}, {Send: long, Times: 4096, Forever: true}}, {{Send: head, End: "close"}}}},
		{Name: "302, a body that stops", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\n\r\nab"}}, {{Send: head, End: "close"}}}},
		{Name: "302, a body cut short", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\nContent-Length: 20\r\n\r\nab", End: "close"}}, {{Send: head, End: "close"}}}},
		{Name: "302, a long body that stops", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\nContent-Length: 4000\r\n\r\nab"}}, {{Send: head, End: "close"}}}},
		{Name: "302, then nothing", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n", End: "close"}}, {{End: "close"}}}},
		{Name: "302, then silence", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n", End: "close"}}, {}}},
		{Name: "302, then no HTTP", Connections: [][]step{{{Send: "HTTP/1.1 302 x\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n", End: "close"}}, {{Send: "no\r\n", End: "close"}}}},

		// TLS
		with(raw("over TLS", head), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(raw("over TLS, bare LF", "HTTP/1.1 200 OK\n\nok"), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(held("over TLS, 101", "HTTP/1.1 101 x\r\nConnection: upgrade\r\nUpgrade: a\r\n\r\n"), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(script("over TLS, silent"), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(held("over TLS, a body that stops", ok+"Content-Length: 20\r\n\r\nok"), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(held("over TLS, chunked", ok+"Transfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(script("over TLS, closed", step{End: "close"}), func(c *answer) { c.Scheme, c.TLS = "https", true }),
		with(raw("HTTP for HTTPS", "HTTP/1.1 400 Bad Request\r\n\r\nno"), func(c *answer) { c.Scheme, c.Unread = "https", true }),
		with(script("silent for HTTPS"), func(c *answer) { c.Scheme, c.Unread = "https", true }),
		with(moved("over TLS, 302 to http", "302 x", to("http://127.0.0.1:1/to")), func(c *answer) { c.Scheme, c.TLS = "https", true }),
	}
	plain := func(name string, change func(*answer)) { out = append(out, with(raw(name, head), change)) }
	for _, path := range []string{"/a/../b/./c", "//two", "/a//b", "/a b", "/ä", "/%zz", "/%2f%41", "/a?b=c d&e=ä", "/a?", "/a#frag", "/a?b#c?d", "/\\a", "/a;b,c=d@e:f!*'()[]", "/\"<>^`{|}~$&+", "/a:b", "*", "a:b", "/a\tb", "/a%00b"} {
		plain("path "+path, asked(path))
	}
	header := func(name, value string) v1.HTTPHeader { return v1.HTTPHeader{Name: name, Value: value} }
	plain("headers in order", asked("/", header("X-B", "1"), header("x-a", "2"), header("x-B", "3"), header("X-A", "")))
	plain("own Accept and User-Agent", asked("/", header("accept", "text/html"), header("USER-AGENT", " me ")))
	plain("no Accept, no User-Agent", asked("/", header("Accept", ""), header("User-Agent", "")))
	plain("a Host of one's own", asked("/", header("Host", "shop.example:81")))
	plain("a Host that is none", asked("/", header("Host", "a b/c")))
	plain("a Host in letters", asked("/", header("Host", "münchen.example")))
	plain("a value with a line end", asked("/", header("X-A", "a\r\nX-B: c")))
	plain("a value with a tab and letters", asked("/", header("X-A", " a\tä ")))
	plain("a User-Agent with a line end", asked("/", header("User-Agent", "a\nb")))
	plain("a name with a blank", asked("/", header("X A", "b")))
	plain("headers that are the client's own", asked("/", header("Content-Length", "5"), header("Transfer-Encoding", "chunked"), header("Trailer", "A"), header("Connection", "keep-alive")))
	plain("Connection: close", asked("/", header("Connection", "close")))
	plain("Connection: Upgrade", asked("/", header("Connection", "Upgrade"), header("Upgrade", "websocket")))
	return out
}
