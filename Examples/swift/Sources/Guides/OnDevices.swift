// SPDX-License-Identifier: Apache-2.0
// The code of the guide "On devices".
import Dispatch
import Glibc
import Uplink

enum Reporter {
    static func run() async {
        let work = Task { await reportForEver() }
        signal(SIGTERM, SIG_IGN)  // or it would end the process before the source below hears of it
        let terminated = DispatchSource.makeSignalSource(signal: SIGTERM)
        terminated.setEventHandler { work.cancel() }
        terminated.resume()
        await work.value
        terminated.cancel()
    }

    private static func reportForEver() async {
        let performer = NetworkOperationPerformer()
        while !Task.isCancelled {
            let outcome = await performer.perform(withinSeconds: .infinity, requiring: .notMetered) {
                try await HTTPClient.shared.post("https://example.org/alive", body: .json(Array("{}".utf8))).status
            }
            print(outcome)  // standard output goes to the journal
            fflush(nil)  // which is no terminal, and would get it in blocks of 4 KiB
            try? await LoopClock.shared.sleep(for: .seconds(300))
        }
    }
}
