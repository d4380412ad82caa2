// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkHTTP

/// What happens to connections when the network under them changes.
extension CurlEngine {
    /// For how many milliseconds data may be unacknowledged after a change of the way to the internet.
    private static let unacknowledgedAfterChange: CInt = 5_000

    /// Listens for changes, from the first transfer to the end.
    func listenForChanges() {
        guard let changes = configuration.networkChanges, listening == nil, !isClosing else { return }
        listening = Task(executorPreference: eventLoop) { [weak self] in
            do {
                for try await change in changes {
                    guard let self else { return }
                    await self.networkChanged(change)
                }
            } catch {
                // The monitor failed, so it is not known what it would have reported.
                await self?.networkChanged(.everything)
            }
        }
    }

    func networkChanged(_ change: NetworkChange) {
        // First, so that what only connects goes the new way, and does not end with an address that is gone.
        if change.isEverything || !change.changedDefaultRoutes.isEmpty { beginGeneration() }
        if change.isEverything {
            endConnections(whoseAddress: LocalAddress.isGone)
        } else if !change.removedAddresses.isEmpty {
            endConnections(whoseAddress: change.removedAddresses.contains)
        }
        scheduleTurn()
    }

    /// Ends connections whose own address is gone: those of transfers immediately, idle ones in a way that libcurl
    /// notices.
    private func endConnections(whoseAddress isGone: (IPAddress) -> Bool) {
        for transfer in Array(transfers.values) where transfer.isOnAddress(where: isGone) {
            transfer.isAddressGone = true
            finish(transfer, code: CURLE_OK)
        }
        connections.shutDown(where: isGone)
    }

    /// Makes a transfer that has no connection yet begin again, in the network as it is now.
    private func beginAgain(_ transfer: CurlTransfer) {
        let action = transfer.machine.networkChanged()
        guard case .enterGate = action else { return }
        transfer.generation?.forgetUpload(of: transfer)
        takeFromLibcurl(transfer)
        transfer.sockets = TransferSockets()
        perform(action, on: transfer)
    }

    /// Makes new transfers begin without any earlier connection, name or TLS session.
    private func beginGeneration() {
        for generation in generations { generation.isRetired = true }
        // The names they look up are of no use to new transfers, which would wait for them.
        for id in gate.leaders where transfers[id]?.generation?.isRetired == true { open(gate.left(id)) }
        for transfer in Array(transfers.values) where transfer.generation?.isRetired == true { beginAgain(transfer) }
        let configured = configuration.unacknowledgedTimeout?.milliseconds ?? .max
        // To the kernel, a peer that takes its time to read an upload looks the same as one that is gone.
        connections.limitUnacknowledged(
            to: min(Self.unacknowledgedAfterChange, configured), sparing: Set(generations.flatMap(\.uploadSockets)))
    }
}
