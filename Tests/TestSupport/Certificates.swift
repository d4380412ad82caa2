// SPDX-License-Identifier: Apache-2.0
import SystemPackage

/// Certificates made for a test, in a directory: `ca.pem` is the authority; `good`, `expired`, `early` (not valid yet),
/// `other` (for another host), `client` (not for servers) are issued by it for 127.0.0.1; `self` is signed by itself.
/// `second` is another one for clients, and `bygone` one that has expired. `client-locked.key` and `client.p12` have
/// the password `secret`; `good.pin` and `other.pin` are the digests of keys.
package enum Certificates {
    package static let names = ["good", "expired", "early", "other", "client", "self"]

    /// Puts them there. They are made once per process, with the program openssl.
    package static func make(in directory: TemporaryDirectory) throws {
        for (name, bytes) in try files.get() { try directory.write(name, bytes) }
    }

    private static let files = Result { () throws in
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        try directory.write("make.sh", Array(script.utf8))
        let status = try Spawn.run(["sh", directory.path.appending("make.sh").string], in: directory.path)
        guard status == 0 else { throw SetupFailure(activity: "making certificates", errno: status) }
        let names = directory.names.filter { name in [".pem", ".key", ".p12", ".pin"].contains { name.hasSuffix($0) } }
        return Dictionary(uniqueKeysWithValues: try names.map { ($0, try directory.read($0)) })
    }

    // `openssl ca`, because no other command of OpenSSL 3.0 sets both dates.
    private static let script = """
        set -e
        cd "$(dirname "$0")"
        cat > ca.cnf <<'END'
        [ca]
        default_ca = here
        [here]
        database = index.txt
        new_certs_dir = .
        default_md = sha256
        policy = any
        rand_serial = yes
        unique_subject = no
        [any]
        commonName = supplied
        END
        : > index.txt
        key() { echo -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout "$1.key"; }
        openssl req -x509 $(key ca) -out ca.pem -days 30 -subj '/CN=Uplink tests' \\
            -addext 'basicConstraints=critical,CA:TRUE' -addext 'keyUsage=critical,keyCertSign'
        issue() { # name, start, end, alternative name, usage
            openssl req $(key "$1") -out "$1.csr" -subj "/CN=$1"
            printf 'subjectAltName=%s\\nextendedKeyUsage=%s\\n' "$4" "$5" > "$1.ext"
            openssl ca -batch -notext -config ca.cnf -cert ca.pem -keyfile ca.key -in "$1.csr" -out "$1.pem" \\
                -startdate "$2" -enddate "$3" -extfile "$1.ext"
        }
        issue good    20200101000000Z 20400101000000Z IP:127.0.0.1   serverAuth
        issue expired 20200101000000Z 20210101000000Z IP:127.0.0.1   serverAuth
        issue early   20390101000000Z 20400101000000Z IP:127.0.0.1   serverAuth
        issue other   20200101000000Z 20400101000000Z DNS:other.test serverAuth
        issue client  20200101000000Z 20400101000000Z IP:127.0.0.1   clientAuth
        issue second  20200101000000Z 20400101000000Z IP:127.0.0.1   clientAuth
        issue bygone  20200101000000Z 20210101000000Z IP:127.0.0.1   clientAuth
        openssl req -x509 $(key self) -out self.pem -days 30 -subj '/CN=self' -addext 'subjectAltName=IP:127.0.0.1'
        openssl pkcs8 -topk8 -in client.key -passout pass:secret -out client-locked.key
        openssl pkcs12 -export -in client.pem -inkey client.key -passout pass:secret -out client.p12
        for name in good other; do
            openssl x509 -in $name.pem -noout -pubkey | openssl pkey -pubin -outform der \\
                | openssl dgst -sha256 -binary | openssl base64 -A > $name.pin
        done

        """
}
