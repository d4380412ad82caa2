print("racy")
