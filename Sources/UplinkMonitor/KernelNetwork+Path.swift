// SPDX-License-Identifier: Apache-2.0
package import UplinkCore

extension KernelNetwork {
    /// How often the kernel is asked again if a route and its link did not fit together.
    private static let answerAttempts = 3
    /// The loopback, which every network namespace has.
    private static let loopback: UInt32 = 1

    /// Asks the kernel for the current path. It only includes the interfaces in use, since finding the others takes
    /// long.
    ///
    /// The kernel's answers are ahead of its messages: an address that the table does not know has a message that is
    /// waiting to be read.
    package func path() throws(NetlinkError) -> NetworkPath {
        var path = try currentPath()
        for _ in 1..<Self.answerAttempts where hasUnknownSource(path) {
            guard try readEvents() else { break }
            path = try currentPath()
        }
        return path
    }

    private func hasUnknownSource(_ path: NetworkPath) -> Bool {
        [path.ipv4, path.ipv6].contains { family in
            family.source.map { table.record(of: $0, on: family.interfaceIndex) == nil } ?? false
        }
    }

    private func currentPath() throws(NetlinkError) -> NetworkPath {
        beginQuestion()
        let flows = self.flows
        let answers = try settledAnswers(to: flows)
        let told = answers.map(\.verdict)
        carriers = Set(told.compactMap(\.interfaceIndex))
        for answer in answers where answer.flow.destination.family == .ipv6 && answer.verdict.route != nil {
            try noteExpiry(of: answer.flow)
        }
        var verdicts: [IPAddress.Family: [RouteVerdict]] = [:]
        for (number, target) in configuration.targets.enumerated() {
            verdicts[target.family, default: []].append(flows.isEmpty ? .none : told[number])
        }
        let evaluation = PathEvaluation(
            table: view(with: told), destination: configuration.target.destination, verdicts: verdicts)
        var path = evaluation.path
        path.dns.resolvers = try reachability(of: resolvers)
        try describeInterfacesInUse(of: &path)
        return path
    }

    /// The packets to ask about; none from an interface that does not exist.
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
    private func view(with verdicts: [RouteVerdict]) -> InterfaceTable {
        switch binding {
        case .any: return table
        case .interface(let index):
            let own = verdicts.compactMap { if case .local(let route) = $0 { route.interfaceIndex } else { nil } }
            return table.restricted(to: index, and: Set(own))
        case .missing: return InterfaceTable()
        }
    }

    /// The interface that the configured socket is bound to, by its current index.
    var binding: Binding {
        switch (configuration.target.zone, configuration.outputInterface) {
        case (nil, nil): .any
        case (let zone?, nil): interface(named: zone).map(Binding.interface) ?? .missing
        case (nil, let name?): table.link(named: name).map { .interface($0.index) } ?? .missing
        case (let zone?, let name?):
            table.link(named: name).flatMap { $0.index == interface(named: zone) ? .interface($0.index) : nil }
                ?? .missing
        }
    }

    enum Binding {
        case any
        case interface(UInt32)
        case missing
    }

    /// The index of a zone's interface: by its name or, as in `fe80::1%2`, by its number.
    private func interface(named name: String) -> UInt32? {
        table.link(named: name)?.index ?? UInt32(name).flatMap { table.links[$0]?.index }
    }
}

// MARK: Asking

extension KernelNetwork {
    /// What the kernel says about packets, after the links that it names have been read again, and what follows from
    /// that.
    ///
    /// Links are read first, which waits for any process that is changing the network at the moment
    /// (``KernelQuestions/link(_:)``). If an answer leads to a link that cannot carry packets, the kernel is asked
    /// again before the network is reported as lost: a link that is being deleted is down for a moment before its
    /// routes are gone.
    private func settledAnswers(to flows: [Flow]) throws(NetlinkError) -> [Answer] {
        try refresh(carriers.isEmpty ? [Self.loopback] : carriers)
        var answers = try ask(flows)
        // Changes of a router before it was watched were not reported.
        if watch(Set(answers.compactMap(\.verdict.route?.nextHop))) { answers = try ask(flows) }
        for _ in 1..<Self.answerAttempts {
            if try refresh(links(of: answers)) { break }
            distrustLinks()
            try refresh(links(of: answers))
            let again = try ask(flows)
            if again == answers { break }
            answers = again
        }
        try refresh(links(of: answers))
        for index in answers.indices {
            switch answers[index].verdict {
            case .unicast(let route):
                if let successor = try successor(of: route, on: answers[index].flow) { answers[index] = successor }
            case .none:
                let flow = answers[index].flow
                let isForbidden = try kernel.isUnreachableByRule(flow, interface: configuration.outputInterface)
                if isForbidden { answers[index].verdict = .blocked }
            case .local, .toMany, .blocked, .unknown: break
            }
        }
        return answers
    }

    private func ask(_ flows: [Flow]) throws(NetlinkError) -> [Answer] {
        var answers: [Answer] = []
        for flow in flows { answers.append(try answer(to: flow)) }
        return answers
    }

    private func links(of answers: [Answer]) -> Set<UInt32> { Set(answers.compactMap(\.verdict.route?.interfaceIndex)) }

    /// The route that the kernel switches to by itself when it finds that nobody answers behind a dead link: the best
    /// of those through other links that it turns to.
    ///
    /// It finds this out from the packets that are sent, within seconds. So the route counts immediately: programs that
    /// wait for a network before they send anything would otherwise wait forever.
    private func successor(of route: RouteRecord, on flow: Flow) throws(NetlinkError) -> Answer? {
        guard flow.interface == nil, let hop = route.nextHop, table.links[hop.interfaceIndex]?.isOperational != true,
            let dead = try kernel.entry(for: flow).route, try turnsAway(from: hop)
        else { return nil }
        var best: (metric: UInt32, answer: Answer)?
        for link in table.operationalLinks where hasUsableAddress(link, of: flow.destination.family) {
            let bound = flow.through(link.index)
            guard try refresh([link.index]), let other = try kernel.entry(for: bound).route, dead.mayGiveWay(to: other),
                var way = try kernel.verdict(on: bound).route, way.nextHop?.interfaceIndex == link.index
            else { continue }
            if let best, best.metric <= other.metric { continue }
            way.source = flow.source ?? way.source
            best = (other.metric, Answer(flow: bound, verdict: .unicast(way)))
        }
        return best?.answer
    }

    /// Whether the kernel notices that a router does not answer. A host that is a router itself does not ask IPv6
    /// neighbours, and a neighbour entered by hand is taken to be there.
    private func turnsAway(from hop: Neighbour) throws(NetlinkError) -> Bool {
        if hop.address.family == .ipv6, Sysctl.isSet("net/ipv6/conf/all/forwarding") { return false }
        return try kernel.state(of: hop.address, on: hop.interfaceIndex) != .permanent
    }

    /// IPv6 routes expire, as a router's advertisements say.
    private func noteExpiry(of flow: Flow) throws(NetlinkError) {
        guard let lifetime = try kernel.entry(for: flow).route?.lifetime else { return }
        timeToExpiry = min(timeToExpiry ?? lifetime, lifetime)
    }

    /// The route of packets to an address that the path is not about, over a link that is read again.
    func way(of flow: Flow) throws(NetlinkError) -> FamilyPath {
        var answer = try answer(to: flow)
        try refresh(links(of: [answer]))
        if let route = answer.verdict.route, let successor = try successor(of: route, on: answer.flow) {
            answer = successor
        }
        if flow.destination.family == .ipv6, answer.verdict.route != nil { try noteExpiry(of: answer.flow) }
        let evaluation = PathEvaluation(table: table, destination: flow.destination, verdicts: [:])
        return evaluation.path(for: answer.verdict, to: flow.destination.family)
    }

    private func reachability(
        of resolvers: [DNSConfiguration.Resolver]
    ) throws(NetlinkError) -> [DNSConfiguration.Resolver] {
        var resolvers = resolvers
        for index in resolvers.indices {
            var flow = Flow(destination: resolvers[index].address, user: configuration.uid, transport: .udp)
            if let zone = resolvers[index].zone {
                guard let interface = interface(named: zone) else { continue }
                flow.interface = interface
            }
            resolvers[index].hasRoute = try way(of: flow).isAvailable
        }
        return resolvers
    }
}
