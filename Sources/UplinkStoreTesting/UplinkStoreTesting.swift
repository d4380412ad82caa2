// SPDX-License-Identifier: Apache-2.0
#if Store
#endif
