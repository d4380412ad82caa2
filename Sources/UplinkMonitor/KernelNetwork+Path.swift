// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

extension KernelNetwork {
    /// How often the kernel is asked again because a route and its link did not fit together.
    private static let verdictAttempts = 3
    /// The loopback, which every network namespace has.
    private static let loopback: UInt32 = 1

    /// Asks the kernel for the path as it is now: with the interfaces that are in use alone, since the others take long to
    /// ask for.
    package func path() throws(NetlinkError) -> NetworkPath {
        beginQuestion()
        let flows = self.flows
        let answers = try settledVerdicts(on: flows)
        carriers = Set(answers.compactMap(\.interfaceIndex))
        for (flow, answer) in zip(flows, answers) where flow.destination.family == .ipv6 && answer.route != nil {
            try noteExpiry(of: flow)
        }
        var verdicts: [IPAddress.Family: [RouteVerdict]] = [:]
        for (number, target) in configuration.targets.enumerated() {
            verdicts[target.family, default: []].append(flows.isEmpty ? .none : answers[number])
        }
        let evaluation = PathEvaluation(
            table: view(with: answers), destination: configuration.target.destination, verdicts: verdicts)
        var path = evaluation.path
        path.dns.resolvers = try reachability(of: resolvers)
        try describeInterfacesInUse(of: &path)
        return path
    }

    /// The packets that are asked about; from an interface that does not exist there are none.
    var flows: [Flow] {
        configuration.targets.compactMap { target in
            switch binding {
            case .any: flow(to: target)
            case .interface(let index): flow(to: target).through(index)
            case .missing: nil
            }
        }
    }

    /// Packets from the configured socket, bound to no interface.
    func flow(to target: IPAddress) -> Flow {
        Flow(destination: target, mark: configuration.mark, user: configuration.uid)
    }

    /// What the configured socket sees of the host's links.
    private func view(with answers: [RouteVerdict]) -> InterfaceTable {
        switch binding {
        case .any: return table
        case .interface(let index):
            let own = answers.compactMap { if case .local(let route) = $0 { route.interfaceIndex } else { nil } }
            return table.restricted(to: index, and: Set(own))
        case .missing: return InterfaceTable()
        }
    }

    /// The interface that the configured socket is bound to, by its present index.
    var binding: Binding {
        switch (configuration.target.zone, configuration.outputInterface) {
        case (nil, nil): .any
        case (let name?, nil), (nil, let name?): interface(named: name).map(Binding.interface) ?? .missing
        case (let zone?, let name?):
            interface(named: zone).flatMap { $0 == interface(named: name) ? .interface($0) : nil } ?? .missing
        }
    }

    enum Binding {
        case any
        case interface(UInt32)
        case missing
    }

    /// The index of an interface by its name or, as in `fe80::1%2`, its number.
    private func interface(named name: String) -> UInt32? {
        table.link(named: name)?.index ?? UInt32(name).flatMap { table.links[$0]?.index }
    }
}

// MARK: Asking

extension KernelNetwork {
    /// What the kernel says of packets, with the links that it names read anew.
    ///
    /// Links first, which waits for whoever changes the network at this moment (``KernelQuestions/link(_:)``). Where an
    /// answer leads to a link that cannot carry packets, the kernel is asked again before the network is said to be lost:
    /// a link that is being deleted is down for a moment before its routes are gone.
    private func settledVerdicts(on flows: [Flow]) throws(NetlinkError) -> [RouteVerdict] {
        _ = try refresh(carriers.isEmpty ? [Self.loopback] : carriers)
        var verdicts = try ask(flows)
        for _ in 1..<Self.verdictAttempts {
            if try refresh(links(of: verdicts)) { break }
            distrustLinks()
            _ = try refresh(links(of: verdicts))
            let again = try ask(flows)
            if again == verdicts { break }
            verdicts = again
        }
        _ = try refresh(links(of: verdicts))
        for index in verdicts.indices where verdicts[index] == .none {
            let isForbidden = try kernel.isUnreachableByRule(flows[index], interface: configuration.outputInterface)
            if isForbidden { verdicts[index] = .blocked }
        }
        return verdicts
    }

    private func ask(_ flows: [Flow]) throws(NetlinkError) -> [RouteVerdict] {
        var verdicts: [RouteVerdict] = []
        for flow in flows { verdicts.append(try kernel.verdict(on: flow)) }
        return verdicts
    }

    private func links(of verdicts: [RouteVerdict]) -> Set<UInt32> { Set(verdicts.compactMap(\.route?.interfaceIndex)) }

    /// Routes of IPv6 expire, as a router's advertisements say.
    private func noteExpiry(of flow: Flow) throws(NetlinkError) {
        guard let lifetime = try kernel.entry(for: flow).route?.lifetime else { return }
        timeToExpiry = min(timeToExpiry ?? lifetime, lifetime)
    }

    /// Where packets to an address that the path is not about would go, over a link that is read anew.
    func way(of flow: Flow) throws(NetlinkError) -> FamilyPath {
        let verdict = try kernel.verdict(on: flow)
        _ = try refresh(links(of: [verdict]))
        let evaluation = PathEvaluation(table: table, destination: flow.destination, verdicts: [:])
        return evaluation.path(for: verdict, to: flow.destination.family)
    }

    private func reachability(
        of resolvers: [DNSConfiguration.Resolver]
    ) throws(NetlinkError) -> [DNSConfiguration.Resolver] {
        var resolvers = resolvers
        for index in resolvers.indices {
            var flow = Flow(destination: resolvers[index].address, user: configuration.uid)
            if let zone = resolvers[index].zone {
                guard let interface = interface(named: zone) else { continue }
                flow.interface = interface
            }
            resolvers[index].hasRoute = try way(of: flow).isAvailable
        }
        return resolvers
    }
}
