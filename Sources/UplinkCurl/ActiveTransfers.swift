// SPDX-License-Identifier: Apache-2.0
import UplinkCore

/// The transfers to which something has happened in this turn, each once.
final class ActiveTransfers {
    @exclusivity(unchecked) private var transfers = Batch<CurlTransfer>()

    func note(_ transfer: CurlTransfer) {
        guard !transfer.isActive else { return }
        transfer.isActive = true
        transfers.append(transfer)
    }

    /// Goes through the transfers that were noted; some may have ended since. Those noted meanwhile are left for the
    /// next time.
    func takeEach(_ body: (CurlTransfer) -> Void) {
        let noted = transfers.take()
        for transfer in noted { transfer.isActive = false }
        for transfer in noted { body(transfer) }
        transfers.giveBack(noted)
    }
}
