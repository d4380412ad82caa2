// SPDX-License-Identifier: Apache-2.0
import CLibCurl
import UplinkCore
import UplinkHTTP

/// What becomes of connections when the network under them changes.
extension CurlEngine {
    /// Milliseconds that data may be unacknowledged after a change of the way to the internet.
    private static let hurry: CInt = 5_000

    /// Listens, from the first transfer to the end.
    func listenForChanges() {
        guard let changes = configuration.networkChanges, listening == nil, !isClosing else { return }
        listening = Task(executorPreference: eventLoop) { [weak self] in
            do {
                for try await change in changes {
                    guard let self else { return }
                    await self.networkChanged(change)
                }
            } catch {
                // The monitor cannot go on: what it would have told is unknown.
                await self?.networkChanged(.everything)
            }
        }
    }

    func networkChanged(_ change: NetworkChange) {
        if change.isEverything {
            strand { LocalAddress.isGone($0) }
        } else if !change.removedAddresses.isEmpty {
            strand { change.removedAddresses.contains($0) }
        }
        if change.isEverything || !change.changedDefaultRoutes.isEmpty { beginGeneration() }
        scheduleTurn()
    }

    /// Ends connections whose own address is gone: the transfers at once, the idle ones so that libcurl sees it.
    private func strand(where isGone: (IPAddress) -> Bool) {
        for transfer in Array(transfers.values) where transfer.isStranded(isGone) {
            transfer.isStrandedByChange = true
            end(transfer, transfer.machine.engineFinished(succeeded: false), code: CURLE_OK)
        }
        connections.shutDown(where: isGone)
    }

    /// Lets a transfer that has no connection yet look for one in the network as it is now.
    private func beginAgain(_ transfer: CurlTransfer) {
        let action = transfer.machine.networkChanged()
        guard case .enterGate = action else { return }
        takeFromLibcurl(transfer)
        (transfer.sockets, transfer.watchedSocket) = (OpenedSockets(), -1)
        perform(action, on: transfer)
    }

    /// Lets new transfers begin with no connection, no name and no TLS session of before.
    private func beginGeneration() {
        for generation in generations { generation.isRetired = true }
        // What they look up is of no use to new transfers, which would wait for it.
        for id in gate.leaders where transfers[id]?.generation?.isRetired == true { open(gate.left(id)) }
        for transfer in Array(transfers.values) where transfer.generation?.isRetired == true { beginAgain(transfer) }
        let configured = configuration.unacknowledgedTimeout?.milliseconds ?? .max
        // A peer that takes its time to read an upload looks the same to the kernel as one that is gone.
        let uploading = transfers.values.filter { $0.upload != nil }.map(\.uploadSocket)
        connections.hurry(to: min(Self.hurry, configured), sparing: Set(uploading))
    }
}
